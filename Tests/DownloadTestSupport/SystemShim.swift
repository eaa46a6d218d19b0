import Foundation

/// The library of Tests/CSystemShim, which is loaded into a program (LD_PRELOAD). The wall clock of the program can be
/// set at any time, and its partial files have a quota, and so has a spool in memory.
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

    /// Returns the variables that a program needs in its environment.
    /// - Parameter quota: the size in bytes at which writing a partial file fails with EDQUOT. Nil means no quota.
    package func environment(quota: Int64? = nil) -> [String: String] {
        var environment = ["LD_PRELOAD": library, "DLM_TEST_CLOCK": clock]
        environment["DLM_TEST_QUOTA"] = quota.map { "\($0)" }
        return environment
    }

    /// Sets the clock of the program this many seconds ahead of the real clock, from now on.
    package func setClock(_ seconds: Int64) throws {
        try Data("\(seconds)\n".utf8).write(to: URL(fileURLWithPath: clock), options: .atomic)
    }
}
