import Foundation
import Glibc

/// The desktop's program for a file, started by xdg-open(1).
enum BrowserProcess {
    static func open(_ file: String, environment: [String: String]) throws(HookProcess.StartFailure) {
        guard let program = environment.program("xdg-open") else {
            throw HookProcess.StartFailure(text: "there is no xdg-open; open the address yourself")
        }
        let null = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { if null >= 0 { close(null) } }
        do throws(HookProcess.StartFailure) {
            _ = try HookProcess.start(
                program, [file], environment: environment, folder: "/", input: "", outputs: (null, null))
        } catch {
            throw HookProcess.StartFailure(text: "\(program): \(error.text)")
        }
    }
}
