import Foundation

/// The library of Tests/CSystemShim in a program (LD_PRELOAD). It lets a test set the program's wall clock at any time,
/// and limit its partial files with a quota.
package struct SystemShim: Sendable {
    private let folder: TemporaryFolder
    private let library: String
    private let clock: String

    package init() throws {
        library = (try DlmSandbox.binary as NSString).deletingLastPathComponent + "/libSystemShim.so"
        guard FileManager.default.fileExists(atPath: library) else {
            throw ChildProcess.Failure(description: "\(library) is missing")
        }
        folder = try TemporaryFolder()
        clock = folder("clock")
        try setClock(0)
    }

    package func remove() { folder.remove() }

    /// Returns the environment variables for the program.
    /// - Parameter quota: the size at which a write to a partial file fails with EDQUOT, in bytes; nil for none.
    package func environment(quota: Int64? = nil) -> [String: String] {
        var environment = ["LD_PRELOAD": library, "DLM_TEST_CLOCK": clock]
        environment["DLM_TEST_QUOTA"] = quota.map { "\($0)" }
        return environment
    }

    /// Sets the clock of the program ahead by this number of seconds.
    package func setClock(_ seconds: Int64) throws {
        try Data("\(seconds)\n".utf8).write(to: URL(fileURLWithPath: clock), options: .atomic)
    }
}
