import DownloadTestSupport
import Foundation
import Glibc
import Testing

@testable import DownloadCore
@testable import dlm

@Suite("Findings of dlm doctor", .inTurn, .serialized)
struct FindingTests {
    @Test("The exit status is the status of the first problem, and warnings do not count")
    func status() {
        let ok = Finding.ok(.transfers, "a", "b")
        let warning = Finding.warning(.transfers, "a", "b", advice: "c")
        #expect(Finding.exitStatus([ok, warning]) == 0)
        #expect(
            Finding.exitStatus([
                ok, .problem(.files, "a", 3, "b"), warning, .problem(.sessions, "a", 12, "b"),
            ]) == 3)
    }

    @Test("The text is aligned and escaped, and each advice is below the line of its finding")
    func text() {
        let findings = [
            Finding.ok(.transfers, "a", "fine"), .warning(.transfers, "long name", "x\u{1B}[2J", advice: "do this"),
            .problem(.request, "b", 4, "broken"),
        ]
        let lines = FindingText(style: Style(isColored: false)).lines(findings)
        #expect(
            lines == [
                "Transfers", "  ok       a          fine", "  warning  long name  x\\x1b[2J",
                "                      -> do this", "", "Request", "  problem  b          broken", "",
                "1 problem, 1 warning",
            ])
        #expect(FindingText(style: Style()).lines([.ok(.files, "a", "b")]).last == "all is well")
    }

    @Test("The keys that alone count in their folders are shown in order, and folders without such a key are not")
    func pins() {
        var health = StoreHealth(path: "/s")
        let time = Date(timeIntervalSince1970: 60)
        for (folder, key) in [("http://b/", "BB"), ("http://a/", "AA"), ("http://c/", nil)] {
            let pin = key.map { SignerKnowledge.Pin(key: $0, since: time) }
            health.signers[folder] = SignerKnowledge(pin: pin, listed: time, learned: time)
        }
        #expect(
            SessionFindings.pins(health) == [
                .ok(.sessions, "pin", "http://a/: key AA since 1970-01-01T00:01:00Z"),
                .ok(.sessions, "pin", "http://b/: key BB since 1970-01-01T00:01:00Z"),
            ])
    }

    @Test("libcurl without TLS is a problem; without HTTP/2 or asynchronous name lookup it is a warning")
    func features() {
        var features = TransportFeatures(version: "7.88.1")
        let file = AuthorityCheck(path: "/ca", isFolder: false, count: 3)
        func results() -> [String: Finding.Outcome] {
            let found = TransferFindings.findings(features, [file])
            return Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0.outcome) })
        }
        #expect(results()["TLS"] == .problem(5) && results()["versions"] == .warning)
        #expect(results()["features"] == .warning && results()["authorities"] == .ok)
        features.tls = "GnuTLS/3.8"
        #expect(results()["TLS"] == .warning)
        features.tls = "OpenSSL/3.0.1"
        features.http2 = "1.52.0"
        features.resolvesAsynchronously = true
        features.protocols = ["ftp", "http", "https"]
        #expect(results().values.allSatisfy { $0 == .ok })
    }

    @Test("One usable set of authorities is enough; if there is none, dlm doctor reports a problem")
    func authorities() {
        var features = TransportFeatures(version: "8")
        features.authorities.origin = "SSL_CERT_FILE"
        func results(_ checks: [AuthorityCheck]) -> [Finding] {
            TransferFindings.findings(features, checks).filter { $0.name == "authorities" }
        }
        let good = AuthorityCheck(path: "/a", isFolder: false, count: 2)
        let empty = AuthorityCheck(path: "/b", isFolder: true, count: 0)
        let missing = AuthorityCheck(path: "/c", isFolder: false, count: nil, failure: "No such file or directory")
        #expect(results([good, empty]).map(\.outcome) == [.ok, .warning])
        #expect(results([missing]).map(\.outcome) == [.problem(5)])
        #expect(results([missing])[0].detail == "/c (SSL_CERT_FILE): No such file or directory")
        #expect(results([]).map(\.outcome) == [.problem(5)])
    }

    @Test(
        "A file system that is full, or cannot rename without replacing, is a problem; a remote one is a warning"
    )
    func fileSystems() {
        func results(_ change: (inout FileSystemTrial) -> Void) -> [Finding.Outcome] {
            var trial = FileSystemTrial()
            (trial.name, trial.free) = ("ext4", 1 << 40)
            change(&trial)
            return FileSystemFindings(purpose: .downloads, path: "/x", trial: trial).findings.map(\.outcome)
        }
        #expect(results { _ in } == [.ok, .ok])
        #expect(results { $0.rename = EINVAL } == [.problem(3), .ok])
        #expect(results { $0.keepsTaken = false } == [.problem(3), .ok])
        #expect(results { $0.preallocation = EOPNOTSUPP } == [.warning, .ok])
        #expect(results { $0.unnamed = EOPNOTSUPP } == [.ok, .ok])
        #expect(results { $0.lock = ENOLCK } == [.warning, .ok])
        #expect(results { $0.free = 1000 } == [.ok, .problem(3)])
        #expect(results { $0.free = 10 << 20 } == [.ok, .warning])
        #expect(results { $0.isRemote = true } == [.ok, .ok, .warning])
        #expect(results { $0.failure = EROFS } == [.problem(3)])
    }

    @Test("A state folder of another user is a problem, and one that others can open is a warning")
    func folders() {
        var check = FolderCheck("/")
        (check.mode, check.owner) = (0o700, 7)
        #expect(FolderFindings.state(check, user: 7).outcome == .ok)
        #expect(FolderFindings.state(check, user: 8).outcome == .problem(12))
        check.mode = 0o755
        #expect(FolderFindings.state(check, user: 7).outcome == .warning)
        let missing = FolderCheck("/no such folder/x")
        #expect(missing.mode == nil && missing.existing == "/")
        #expect(FolderFindings.state(missing, user: 7).outcome == .ok)
        let long = "/" + String(repeating: "x", count: 107)
        #expect(FolderFindings.sessions(missing, socket: long, canReachLongPaths: true).map(\.outcome) == [.ok])
        #expect(
            FolderFindings.sessions(missing, socket: long, canReachLongPaths: false).map(\.outcome) == [.problem(12)])
    }

    @Test("A session of another version is a warning, and a socket of a service manager is not")
    func sessions() {
        func result(alive: Bool, listening: Bool = false, _ answer: SessionFindings.Answer = .notAsked)
            -> Finding.Outcome
        {
            let trace = SessionTrace(identifier: "background", isAlive: alive, pid: 7, hasSocket: true)
            let found = SessionFindings.Found(trace: trace, isListening: listening, answer: answer)
            let findings = SessionFindings.findings([found], version: "2")
            #expect(findings.count == 1)
            return findings[0].outcome
        }
        #expect(result(alive: true, .answered(version: "2", running: 0)) == .ok)
        #expect(result(alive: true, .answered(version: "1", running: 0)) == .warning)
        #expect(
            result(alive: true, .failed(.sessionUnavailable(.notAnswering("background", message: "")))) == .problem(12))
        #expect(result(alive: false) == .warning)
        #expect(result(alive: false, listening: true) == .ok)
    }

    @Test("Each phase that was reached is shown with its own time")
    func phases() {
        var metrics = TransferMetrics()
        (metrics.nameLookup, metrics.connect, metrics.tls) = (0.001, 0.0035, 0.0105)
        (metrics.firstByte, metrics.total) = (0.2105, 0.3)
        #expect(
            RequestFindings.phases(metrics)
                == "name lookup 1.0 ms, connect 2.5 ms, TLS 7.0 ms, first byte 200 ms, total 300 ms")
        (metrics.tls, metrics.firstByte) = (0, 0)
        #expect(RequestFindings.phases(metrics) == "name lookup 1.0 ms, connect 2.5 ms, total 300 ms")
    }
}

extension Finding {
    enum Outcome: Equatable { case ok, warning, problem(Int32?) }

    var outcome: Outcome {
        switch result {
        case .ok: .ok
        case .warning: .warning
        case .problem: .problem(exitStatus)
        }
    }
}
