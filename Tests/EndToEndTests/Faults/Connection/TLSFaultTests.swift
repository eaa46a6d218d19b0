import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of TLS", .serialized, .timeLimit(.minutes(3)))
    struct TLSFaultTests {
        static let content = Content(seed: 90, size: 12 * mebibyte)
        static let good = FaultReply(content, etag: "\"v1\"")

        // MARK: Certificates

        @Test(
            "An untrusted certificate ends the download with status 5 before a request is sent", arguments: [1, 4])
        func untrusted(connections: Int) async throws {
            try await withCertificates { certificates in
                for flaw in FaultTrial.short(Certificates.Flaw.allCases, each: connections) {
                    let wrong = TLSBehaviour(try await certificates.wrong(flaw))
                    try await withSecureDlm(certificates, tls: { _, _ in wrong }, { _ in Self.good }) { site in
                        let arguments = [
                            "get", "-x", "\(connections)", "-H", "Authorization: Bearer s3cret",
                            site.server.url(),
                        ]
                        let result = try await site.run(arguments)
                        let trial = FaultTrial(
                            area: .tls, fault: "certificate: \(flaw.rawValue)", connections: connections)
                        try trial.judge(result, in: site.sandbox, right: [], errors: [5])
                        #expect(site.server.log.entries.isEmpty && site.server.log.connections == 1, "\(trial)")
                        #expect(site.sandbox.names == [], "\(trial)")
                        site.server.secure { _ in site.right }
                        let healed = try await site.run(arguments)
                        try expectDownloaded(Self.content, as: "file.bin", by: healed, in: site.sandbox, trial)
                    }
                }
            }
        }

        // MARK: Handshakes

        static let handshakes: [(fault: String, change: @Sendable (inout TLSBehaviour) -> Void, errors: Set<Int32>)] =
            [
                ("garbage instead of ServerHello", { $0.handshake = .garbage }, [5]),
                ("HTTP instead of ServerHello", { $0.handshake = .plainHTTP }, [5]),
                ("TLS 1.1 at most", { $0.versions = 10...11 }, [5]),
                (
                    "client certificate wanted, TLS 1.2",
                    { ($0.wantsClientCertificate, $0.versions) = (true, 12...12) }, [5]
                ),
                (
                    "client certificate wanted, TLS 1.3",
                    { ($0.wantsClientCertificate, $0.versions) = (true, 13...13) }, [5]
                ),
                ("connection closed in the handshake", { $0.handshake = .closed }, [4]),
                ("connection reset in the handshake", { $0.handshake = .reset }, [4]),
                ("connection cut in ServerHello", { $0.handshake = .cut }, [4]),
                ("stalled handshake", { $0.handshake = .stalled }, [4]),
            ]

        @Test("A failed handshake is a TLS error, and a cut handshake is a lost connection")
        func handshakes() async throws {
            try await withCertificates { certificates in
                try await concurrently(Array(Self.handshakes.indices), atMost: 4) { index in
                    let (fault, change, errors) = Self.handshakes[index]
                    try await withSecureDlm(
                        certificates, asProcess: index == 0, tls: { $1.with(change) }, { _ in Self.good }
                    ) { site in
                        let arguments = [
                            "get", "--retries", "1", "--retry-delay", "0.1", "--connect-timeout",
                            fault == "stalled handshake" ? "4" : "20",
                            site.server.url(),
                        ]
                        let result = try await site.run(arguments)
                        let trial = FaultTrial(area: .tls, fault: fault)
                        try trial.judge(result, in: site.sandbox, right: [], errors: errors)
                        #expect(site.server.log.entries.isEmpty)
                        site.server.secure { _ in site.right }
                        let healed = try await site.run(arguments)
                        try expectDownloaded(Self.content, as: "file.bin", by: healed, in: site.sandbox, trial)
                    }
                }
            }
        }

        // MARK: The ends of bodies

        static let middle = 5 * mebibyte + 1000

        static let ends: [(fault: String, change: @Sendable (inout FaultReply) -> Void)] = [
            ("closed without close_notify", { ($0.cut, $0.notifiesClose) = (.close(after: middle), false) }),
            ("closed with close_notify", { $0.cut = .close(after: middle) }),
            ("closed in a record", { $0.cut = .halfRecord(after: middle) }),
            ("record with a wrong MAC", { $0.cut = .corruptRecord(after: middle) }),
            ("reset", { $0.cut = .reset(after: middle) }),
        ]

        static let framings: [(name: String, value: FaultReply.Framing)] = [
            ("with a length", .contentLength), ("chunked", .chunked), ("until close", .closeDelimited),
        ]

        struct End: Sendable {
            let framing: Int
            let end: Int
            let version: Int

            static let all = TLSFaultTests.framings.indices.flatMap { framing in
                TLSFaultTests.ends.indices.flatMap { end in
                    [12, 13].map { End(framing: framing, end: end, version: $0) }
                }
            }
        }

        @Test("A body that is cut short over TLS is never accepted as the whole file, however the body is framed")
        func truncated() async throws {
            try await withCertificates { certificates in
                try await concurrently(FaultTrial.short(End.all, each: 5), atMost: 4) { cell in
                    let (framing, end) = (Self.framings[cell.framing], Self.ends[cell.end])
                    // A close-delimited body with an orderly end cannot be distinguished from a whole body.
                    if framing.value == .closeDelimited, end.fault == "closed with close_notify" { return }
                    let reply = FaultReply(Self.content).with {
                        $0.ranges = .ignored
                        $0.framing = framing.value
                    }
                    let broken = reply.with(end.change)
                    try await withSecureDlm(
                        certificates, tls: { $1.with { $0.versions = cell.version...cell.version } }, { _ in broken }
                    ) { site in
                        let arguments = ["get", "--retries", "1", "--retry-delay", "0.1", site.server.url()]
                        let result = try await site.run(arguments)
                        let trial = FaultTrial(
                            area: .tls, fault: "body \(framing.name), \(end.fault), TLS 1.\(cell.version - 10)")
                        try trial.judge(result, in: site.sandbox, right: [], errors: [4])
                        site.server.handle { _ in reply }
                        let healed = try await site.run(arguments)
                        try expectDownloaded(Self.content, as: "file.bin", by: healed, in: site.sandbox, trial)
                    }
                }
            }
        }

        @Test("A missing close_notify is not an error if the framing shows the end of the body", arguments: [12, 13])
        func wholeWithoutCloseNotify(version: Int) async throws {
            try await withCertificates { certificates in
                for framing in Self.framings {
                    let reply = FaultReply(Self.content).with {
                        $0.ranges = .ignored
                        $0.framing = framing.value
                        $0.fields = [("Connection", "close")]
                        ($0.cut, $0.notifiesClose) = (.close(after: .max), false)
                    }
                    try await withSecureDlm(
                        certificates, tls: { $1.with { $0.versions = version...version } }, { _ in reply }
                    ) { site in
                        let result = try await site.run("get", "--retries", "0", site.server.url())
                        let trial = FaultTrial(
                            area: .tls, fault: "whole body \(framing.name), no close_notify, TLS 1.\(version - 10)")
                        let isProved = framing.value != .closeDelimited
                        try trial.judge(
                            result, in: site.sandbox, right: isProved ? [Self.content] : [], errors: isProved ? [] : [4]
                        )
                    }
                }
            }
        }
    }
}
