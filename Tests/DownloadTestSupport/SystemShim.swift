import Foundation

/// The library of Tests/CSystemShim in a program (LD_PRELOAD): its wall clock can be set at any time, and its partial
/// files meet a quota.
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

    /// What a program needs in its environment.
    /// - Parameter quota: bytes at which a partial file meets EDQUOT; nil for none.
    package func environment(quota: Int64? = nil) -> [String: String] {
        var environment = ["LD_PRELOAD": library, "DLM_TEST_CLOCK": clock]
        environment["DLM_TEST_QUOTA"] = quota.map { "\($0)" }
        return environment
    }

    /// From now on its clock is so many seconds ahead.
    package func setClock(_ seconds: Int64) throws {
        try Data("\(seconds)\n".utf8).write(to: URL(fileURLWithPath: clock), options: .atomic)
    }
}
