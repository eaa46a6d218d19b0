import DownloadTestSupport
import Foundation
import Testing

/// The secrets of a test, and the search for them in all places where they must not be.
struct SecretSearch: Sendable {
    static let password = "pa55-W0RD-x1"
    static let token = "t0ken-8841-q2"
    static let cookie = "c00kie-7723-z3"
    static let proxy = "pr0xy-5512-y4"
    static let key = "k3y-9934-w5"
    /// The secret in a field whose name does not show that it is secret.
    static let unnamed = "b3arer-1177-v6"
    /// The secret in the URL's query. A download needs its URL to be resumed, so the URL is stored and shown. Only
    /// messages, logs and lists of processes must not have the secret.
    static let signature = "s1gnature-4455-u7"

    /// The secrets that are never stored or printed.
    static let secrets = [password, token, cookie, proxy, key, unnamed, basic]
    /// The password in the form of the `Authorization` field.
    static let basic = Data("ann:\(password)".utf8).base64EncodedString()

    static let headers = [
        "Cookie: a=1; id=\(cookie)", "Proxy-Authorization: Basic \(proxy)", "X-Api-Key: \(key)",
        "X-Note: Bearer \(unnamed)",
    ].flatMap { ["-H", $0] }
    static let authorization = ["-H", "Authorization: Bearer \(token)"]

    let sandbox: DlmSandbox

    /// Expects no secret in files of any kind, or in the system's public data about processes.
    func expectNoTrace(_ what: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: sandbox.root.path) {
            guard let data = FileManager.default.contents(atPath: sandbox.root(name)) else { continue }
            let found = (Self.secrets + (name.hasSuffix(".log") ? [Self.signature] : []))
                .filter { Self.contains($0, in: data) }
            #expect(found.isEmpty, "\(what): \(name)", sourceLocation: sourceLocation)
        }
        for process in ForeignProcess.all(of: sandbox.root) {
            // The process may end meanwhile.
            guard let words = try? process.file("cmdline"), let settings = try? process.file("environ") else {
                continue
            }
            let found = (Self.secrets + [Self.signature]).filter { words.contains($0) || settings.contains($0) }
            #expect(found.isEmpty, "\(what): \(words)", sourceLocation: sourceLocation)
        }
    }

    /// Returns whether the data contain the text. It uses functions of C, because Foundation's search takes seconds for
    /// a few megabytes in a debug build.
    private static func contains(_ text: String, in data: Data) -> Bool {
        let wanted = Array(text.utf8)
        return data.withUnsafeBytes { bytes in
            guard var place = bytes.baseAddress else { return false }
            let end = place + bytes.count
            while place + wanted.count <= end,
                let found = memchr(place, Int32(wanted[0]), end - place - wanted.count + 1)
            {
                if memcmp(found, wanted, wanted.count) == 0 { return true }
                place = UnsafeRawPointer(found) + 1
            }
            return false
        }
    }

    func expectSilent(
        _ result: ChildProcess.Result, _ what: Any = "", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = Self.secrets.filter { (result.stdout + result.stderr).contains($0) }
        #expect(found.isEmpty, "\(what) \(result.stdout) \(result.stderr)", sourceLocation: sourceLocation)
        #expect(!result.stderr.contains(Self.signature), "\(what) \(result.stderr)", sourceLocation: sourceLocation)
    }

    /// Expects no secret in the output of all commands about download 1.
    func askAll(_ moment: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let commands = [
            ["list", "--all"], ["list", "--all", "--json"], ["show", "1"], ["show", "1", "--json"],
            ["events", "--since", "0", "--once"], ["daemon", "status", "--json"], ["daemon", "status"],
        ]
        try await concurrently(commands.flatMap { [$0, $0 + ["-v", "-v"]] }, atMost: 4) { words in
            let result = try await sandbox.run(words, asProcess: words[0] == "daemon")
            expectSilent(result, "\(moment) \(words)", sourceLocation: sourceLocation)
        }
    }
}
