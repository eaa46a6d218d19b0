import CSystem
import DownloadKit
import Foundation
import Glibc

/// The desktop's program for a file, started by xdg-open(1).
enum BrowserProcess {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func open(_ file: String, environment: [String: String]) throws(Failure) {
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        guard
            let program = folders.map({ FileNaming.path(String($0), "xdg-open") }).first(where: {
                access($0, X_OK) == 0
            })
        else { throw Failure(description: "there is no xdg-open; open the address yourself") }
        let null = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { throw Failure(description: String(cString: strerror(errno))) }
        defer { close(null) }
        var pid: pid_t = 0
        let error = ProcessStart.alone([program, file], environment) {
            dlm_spawn(program, $0, $1, "/", [null, null, null], 3, 0, &pid)
        }
        guard error == 0 else { throw Failure(description: "\(program): \(String(cString: strerror(error)))") }
    }
}
