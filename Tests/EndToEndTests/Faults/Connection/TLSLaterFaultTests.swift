import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of TLS on later connections", .serialized, .timeLimit(.minutes(5)))
    struct TLSLaterFaultTests {
        static let content = Content(seed: 91, size: 24 * mebibyte)
        static let good = FaultReply(content, etag: "\"v1\"")

        /// A fault of a connection, or of a reply on the connection.
        struct Fault: Sendable {
            let name: String
            var flaw: Certificates.Flaw?
            var handshake = TLSBehaviour.Handshake.completed
            var cut: FaultReply.Cut?
            let error: Int32

            static let all =
                Certificates.Flaw.allCases.map { Fault(name: "certificate: \($0.rawValue)", flaw: $0, error: 5) } + [
                    Fault(name: "garbage instead of ServerHello", handshake: .garbage, error: 5),
                    Fault(name: "connection closed in the handshake", handshake: .closed, error: 4),
                    Fault(name: "connection cut in ServerHello", handshake: .cut, error: 4),
                    Fault(name: "stalled handshake", handshake: .stalled, error: 4),
                    Fault(name: "body cut without close_notify", cut: .close(after: 10_000), error: 4),
                    Fault(name: "body cut in a record", cut: .halfRecord(after: 10_000), error: 4),
                    Fault(name: "record with a wrong MAC", cut: .corruptRecord(after: 10_000), error: 4),
                ]

            func reply(_ good: FaultReply) -> FaultReply {
                good.with { ($0.cut, $0.notifiesClose) = (cut ?? $0.cut, cut == nil) }
            }
        }

        struct Cell: Sendable {
            let fault: Fault
            let moment: FaultTrial.Moment
            let connections: Int

            var trial: FaultTrial {
                FaultTrial(area: .tls, fault: fault.name, moment: moment, connections: connections)
            }

            static let all: [Cell] = {
                let moments: [(FaultTrial.Moment, Int)] = [
                    (.middle, 1), (.segment, 4), (.resume, 1), (.resume, 4), (.middle, 4),
                ]
                return Fault.all.flatMap { fault in
                    moments.map { Cell(fault: fault, moment: $0.0, connections: $0.1) }
                }
            }()
        }

        private func behaviour(
            _ fault: Fault, _ certificates: Certificates, _ identities: [Certificates.Flaw: Certificates.Identity]
        ) -> TLSBehaviour {
            TLSBehaviour(fault.flaw.flatMap { identities[$0] } ?? certificates.right).with {
                $0.handshake = fault.handshake
            }
        }

        private func arguments(_ cell: Cell, _ site: SecureSite) -> [String] {
            // The connect timeout is longer than a handshake takes on a busy machine. It is shorter if the handshake
            // never ends.
            let patience = cell.fault.handshake == .stalled ? "4" : "20"
            return [
                "get", "-x", "\(cell.connections)", "--retries", cell.moment == .middle ? "2" : "1", "--retry-delay",
                "0.1", "--connect-timeout", patience,
                site.server.url(),
            ]
        }

        @Test("A fault of TLS on a later connection: the right file or a clear error, and fetched bytes are used")
        func later() async throws {
            try await withCertificates { certificates in
                var identities: [Certificates.Flaw: Certificates.Identity] = [:]
                for flaw in Certificates.Flaw.allCases { identities[flaw] = try await certificates.wrong(flaw) }
                let cells = FaultTrial.short(Cell.all, each: 4)
                let process = cells.first { $0.moment == .resume }?.trial.description
                try await concurrently(cells, atMost: 4) { [identities] cell in
                    let broken = behaviour(cell.fault, certificates, identities)
                    if cell.moment == .resume {
                        try await resumed(cell, certificates, broken, asProcess: cell.trial.description == process)
                    } else {
                        try await underway(cell, certificates, broken)
                    }
                }
            }
        }

        /// Tests a fault of the second connection of a download, or of one of several simultaneous connections.
        private func underway(_ cell: Cell, _ certificates: Certificates, _ broken: TLSBehaviour) async throws {
            let number = cell.moment == .middle ? 2 : 3
            let isReply = cell.fault.cut != nil
            try await withSecureDlm(
                certificates, tls: { !isReply && $0 == number ? broken : $1 },
                { request in
                    if cell.moment == .middle, request.number == 1 {
                        return Self.good.with { $0.cut = .close(after: 3 * mebibyte) }
                    }
                    return request.number == number ? cell.fault.reply(Self.good) : Self.good
                }
            ) { site in
                let result = try await site.run(arguments(cell, site))
                let isFatal = cell.fault.error == 5
                try cell.trial.judge(result, in: site.sandbox, right: [Self.content], errors: isFatal ? [5] : [])
                if result.ending == .exited(0) { return }
                #expect(site.sandbox.names == ["file.bin.part"], "\(cell.trial)")
                try await heal(cell, site)
            }
        }

        /// Tests a fault of all connections of the session that resumes.
        private func resumed(
            _ cell: Cell, _ certificates: Certificates, _ broken: TLSBehaviour, asProcess: Bool
        ) async throws {
            let slow = Self.good.with { $0.bytesPerSecond = Int(16 * mebibyte) / cell.connections }
            try await withSecureDlm(certificates, asProcess: asProcess, { _ in slow }) { site in
                try await site.interrupt(arguments(cell, site), after: 3 * mebibyte)
                site.server.secure { _ in broken }
                site.server.handle { _ in cell.fault.reply(Self.good) }
                let asked = site.server.log.entries.count
                let result = try await site.run("resume", try await site.sandbox.onlyID())
                try cell.trial.judge(result, in: site.sandbox, right: [], errors: [cell.fault.error])
                #expect(site.sandbox.names == ["file.bin.part"], "\(cell.trial)")
                if cell.fault.cut == nil { #expect(site.server.log.entries.count == asked, "\(cell.trial)") }
                site.server.secure { _ in site.right }
                try await heal(cell, site)
            }
        }

        /// Expects that recorded bytes are not fetched again. Only bytes that were on their way when dlm stopped are
        /// fetched again.
        private func heal(_ cell: Cell, _ site: SecureSite) async throws {
            let (received, sent) = (try await site.sandbox.show(1).received, site.server.log.bytesSent)
            #expect(received > 0, "\(cell.trial)")
            site.server.handle { _ in Self.good.with { $0.bytesPerSecond = Int(16 * mebibyte) } }
            let healed = try await site.run("resume", try await site.sandbox.onlyID())
            try expectDownloaded(Self.content, as: "file.bin", by: healed, in: site.sandbox, cell.trial)
            let limit = Self.content.size - received + 2 * mebibyte
            #expect(site.server.log.bytesSent - sent <= limit, "\(cell.trial)")
        }

        // MARK: Redirects and authorities

        @Test("A redirect from https to http is refused before the other server is asked", arguments: [1, 4])
        func downgrade(connections: Int) async throws {
            let plain = try FaultServer.serving(Self.content)
            let target = plain.url()
            try await withSecureDlm({ _ in .redirect(to: target) }) { site in
                let result = try await site.run(
                    "get", "-x", "\(connections)", "-H", "Authorization: Bearer s3cret", site.server.url())
                let trial = FaultTrial(area: .tls, fault: "redirect to http", connections: connections)
                try trial.judge(result, in: site.sandbox, right: [], errors: [7])
                #expect(plain.log.connections == 0 && site.sandbox.names == [])
            }
        }

        @Test("A redirect to an untrusted server is not followed", arguments: Certificates.Flaw.allCases)
        func redirect(to flaw: Certificates.Flaw) async throws {
            try await withCertificates { certificates in
                let wrong = TLSBehaviour(try await certificates.wrong(flaw))
                let impostor = try FaultServer(tls: { _ in wrong }) { _ in Self.good }
                let target = impostor.url()
                try await withSecureDlm(certificates, { _ in .redirect(to: target) }) { site in
                    let result = try await site.run("get", site.server.url())
                    let trial = FaultTrial(
                        area: .tls, fault: "redirect to a server whose certificate is \(flaw.rawValue)")
                    try trial.judge(result, in: site.sandbox, right: [], errors: [5])
                    #expect(impostor.log.entries.isEmpty && site.sandbox.names == [])
                }
            }
        }

        @Test(
            "Authorities that cannot be read are an error, and no certificate is trusted",
            arguments: ["missing", "empty", "broken"])
        func authorities(kind: String) async throws {
            try await withSecureDlm({ _ in Self.good }) { site in
                let path = site.sandbox.root("config/authorities.pem")
                if kind == "empty" { try Data().write(to: URL(fileURLWithPath: path)) }
                if kind == "broken" {
                    try Data("-----BEGIN CERTIFICATE-----\nAAAA\n".utf8).write(to: URL(fileURLWithPath: path))
                }
                let result = try await site.sandbox.perform("get", site.server.url()) {
                    $0.environment["SSL_CERT_FILE"] = path
                }
                let trial = FaultTrial(area: .tls, fault: "file of authorities: \(kind)")
                try trial.judge(result, in: site.sandbox, right: [], errors: [5])
                #expect(site.server.log.entries.isEmpty)
            }
        }
    }
}
