import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Bodies that are longer than their Content-Length", .serialized, .timeLimit(.minutes(10)))
    struct OverrunFaultTests {
        private static let content = HTTPFault.content

        /// Changes a reply to a 200 whose Content-Length is too small.
        private static func short(by missing: Int64, closes: Bool) -> @Sendable (inout FaultReply) -> Void {
            {
                $0.ranges = .ignored
                $0.framing = .wrongLength(by: -missing)
                if closes { $0.fields.append(("Connection", "close")) }
            }
        }

        private static let amounts: [(name: String, missing: Int64)] = [
            ("too small by 1 byte", 1), ("too small by 1000 bytes", 1000), ("too small by half", content.size / 2 + 1),
            ("0 with a body", content.size),
        ]

        static let faults = amounts.flatMap { name, missing in
            [false, true].map { closes in
                HTTPFault(
                    "Content-Length \(name)\(closes ? ", Connection: close" : "")", fresh: .fails([7]),
                    with: short(by: missing, closes: closes)
                ).with { $0.losesPart = true }
            }
        }

        @Test("A body that continues after its Content-Length is not accepted as the whole file")
        func overrun() async throws { try await HTTPFaultCell.run(Self.faults) }

        /// The body is small enough to arrive with its head in one read.
        @Test("A small body that continues after its Content-Length is not accepted, either", arguments: [1, 4])
        func small(connections: Int) async throws {
            let content = Content(seed: 301, size: 3000)
            try await concurrently([1, 1500, 3000] as [Int64], atMost: 3) { missing in
                for closes in [false, true] {
                    let reply = FaultReply(content).with(Self.short(by: missing, closes: closes))
                    try await withDlm(serving: reply) { sandbox, server in
                        let trial = FaultTrial(
                            area: .http, fault: "small file, Content-Length too small", connections: connections)
                        let arguments = [
                            "get", "-x", "\(connections)", "--retries", "1", "--retry-delay", "0.1", server.url(),
                        ]
                        let result = try await sandbox.perform(arguments)
                        try trial.judge(result, in: sandbox, right: [], errors: [7])
                        server.change(to: content)
                        try await sandbox.expectDownloaded(content, by: arguments, what: trial)
                    }
                }
            }
        }

        @Test("Over TLS, a body that continues after its Content-Length is not accepted, either", arguments: [12, 13])
        func secure(version: Int) async throws {
            try await withCertificates { certificates in
                let cells = Self.amounts.flatMap { amount in [1, 4].map { (amount, $0) } }
                try await concurrently(FaultTrial.short(cells, each: 3), atMost: 4) { amount, connections in
                    for closes in [false, true] {
                        let reply = FaultReply(Self.content, etag: "\"v1\"").with(
                            Self.short(by: amount.missing, closes: closes))
                        try await withSecureDlm(
                            certificates, tls: { $1.with { $0.versions = version...version } }, { _ in reply }
                        ) { site in
                            let arguments = [
                                "get", "-x", "\(connections)", "--retries", "1", "--retry-delay", "0.1",
                                site.server.url(),
                            ]
                            let trial = FaultTrial(
                                area: .tls, fault: "Content-Length \(amount.name), TLS 1.\(version - 10)",
                                connections: connections)
                            let result = try await site.run(arguments)
                            try trial.judge(result, in: site.sandbox, right: [], errors: [7])
                            site.server.change(to: Self.content, etag: "\"v1\"")
                            let healed = try await site.run(arguments)
                            try expectDownloaded(Self.content, as: "file.bin", by: healed, in: site.sandbox, trial)
                        }
                    }
                }
            }
        }

        @Test("With --checksum, the announced part of the body is accepted only if it matches", arguments: [1, 4])
        func checksum(connections: Int) async throws {
            try await concurrently(Self.amounts.dropLast(), atMost: 3) { name, missing in
                let short = Content(seed: 300, size: Self.content.size - missing)
                let reply = FaultReply(Self.content).with(Self.short(by: missing, closes: false))
                for (meant, rights, errors) in [(short, [short], []), (Self.content, [], [7, 9])]
                    as [(Content, [Content], Set<Int32>)]
                {
                    try await withDlm(serving: reply) { sandbox, server in
                        let result = try await sandbox.perform(
                            "get", "-x", "\(connections)", "--retries", "0", "--checksum", "sha256:\(meant.sha256)",
                            server.url())
                        let trial = FaultTrial(
                            area: .http,
                            fault: "Content-Length \(name), --checksum of "
                                + (rights.isEmpty ? "all sent bytes" : "the announced bytes"),
                            connections: connections)
                        try trial.judge(result, in: sandbox, right: rights, errors: errors)
                        #expect((result.ending == .exited(0)) == !rights.isEmpty, "\(trial)")
                    }
                }
            }
        }

        @Test("With --allow-unverified, the announced part of the body is accepted", arguments: [1, 4])
        func unverified(connections: Int) async throws {
            let short = Content(seed: 300, size: Self.content.size - 1000)
            let reply = FaultReply(Self.content).with(Self.short(by: 1000, closes: false))
            try await withDlm(serving: reply) { sandbox, server in
                try await sandbox.expectDownloaded(
                    short, by: "get", "-x", "\(connections)", "--allow-unverified", server.url())
            }
        }
    }
}
