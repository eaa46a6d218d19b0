import CSystem
import DownloadCore
import Foundation
import Glibc

/// A reader for the files in which a request's secrets are.
enum SecretFile {
    /// The maximum size in bytes. A larger file is probably the wrong file.
    static let largest = 4 << 20

    static func read(_ path: String) throws(DownloadError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .givenFile(errno, "open", path) }
        defer { close(descriptor) }
        guard let bytes = FileBytes.read(descriptor, atMost: largest) else { throw .givenFile(errno, "read", path) }
        if bytes.count > largest { throw .givenFile(EFBIG, "read", path) }
        return bytes
    }
}

/// The run of a program that prints a secret. A request can name such a program instead of a file with the secret.
enum SecretCommand {
    /// The time limit for the program, in seconds.
    private static let patience = 60.0

    /// Returns what the program printed. The program shares the standard error of this process.
    static func output(of path: String, _ time: any TimeSource = SystemTime()) async throws(DownloadError) -> [UInt8] {
        func failed(_ why: String) -> DownloadError { .requestInvalid(.unusableSecret("\(path): \(why)")) }
        // The output goes to a file in memory. A pipe could be kept open by a process that the program leaves running.
        let output = dlm_memory_file(nil, 0)
        guard output >= 0 else { throw failed(String(cString: strerror(errno))) }
        defer { close(output) }
        // If the program runs dlm itself, that dlm must not run the program again.
        let inherited = ProcessInfo.processInfo.environment.filter { $0.key != "DLM_BEARER_COMMAND" }
        let problem = await UserProgram.run(
            path, environment: inherited, folder: "/", input: "", outputs: (output, STDERR_FILENO), within: patience,
            overdue: "did not end within \(Int(patience)) s", time: time)
        if let problem { throw failed(problem) }
        return try SecretFile.read("/proc/self/fd/\(output)")
    }
}
