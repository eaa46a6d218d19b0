import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of HTTP/2", .serialized, .timeLimit(.minutes(10)))
    struct HTTP2FaultTests {
        /// The names of further files. While some of these files wait, dlm shares connections.
        static let others = (1...10).map { "other\($0)" }
        static let other = FaultReply(Content("small"), etag: "\"s\"").with { $0.bytesPerSecond = 20 }

        /// The stall timeout in seconds. It is longer than any pause on a busy machine, and short enough for the faults
        /// in which a stream stalls.
        static let patience = 6

        private func arguments(_ site: SecureSite, stallTimeout: Int = patience) -> [String] {
            ["get", "-j", "2", "--retries", "1", "--retry-delay", "0.1", "--stall-timeout", "\(stallTimeout)"]
                + ([site.server.url()] + Self.others.map { site.server.url("/\($0)") })
        }

        /// Runs a cell against a server that gives these replies for the file, one after the other. The last reply is
        /// repeated. Other paths are small files without a fault.
        private func site(
            _ certificates: Certificates, _ replies: [FaultReply], asProcess: Bool = false,
            _ body: (SecureSite) async throws -> Void
        ) async throws {
            let asked = Observed(0)
            try await withSecureDlm(
                certificates, asProcess: asProcess, tls: { $1.with { $0.offersHTTP2 = true } },
                { request in
                    guard request.target == "/file.bin" else { return Self.other }
                    return replies[
                        min(
                            asked.update {
                                $0 += 1; return $0
                            }, replies.count) - 1]
                }, body)
        }

        private func expectHTTP2(_ count: Int, _ site: SecureSite, _ trial: FaultTrial) {
            let requests = site.server.log.requests(to: "/file.bin").prefix(count)
            #expect(requests.count == count && requests.allSatisfy(\.request.isHTTP2), "\(trial)")
        }

        @Test("The next attempt recovers from a fault of HTTP/2")
        func healed() async throws {
            try await withCertificates { certificates in
                try await concurrently(FaultTrial.short(HTTP2Cell.all, each: 5), atMost: 5) { cell in
                    try await site(certificates, [cell.broken, cell.healthy]) { site in
                        let trial = FaultTrial(area: .http2, fault: cell.description)
                        let result = try await site.run(arguments(site))
                        try trial.judge(
                            result, in: site.sandbox, right: [HTTP2Cell.content], errors: [], beside: Self.others)
                        expectHTTP2(1, site, trial)
                    }
                }
            }
        }

        @Test("The next attempt also recovers from a fault in an attempt that continues a partial file")
        func inTheMiddle() async throws {
            try await withCertificates { certificates in
                try await concurrently(FaultTrial.short(HTTP2Cell.all, each: 11), atMost: 5) { cell in
                    let cut = cell.healthy.with { $0.http2 = .reset(.internalError, after: 300_000) }
                    try await site(certificates, [cut, cell.broken, cell.healthy]) { site in
                        let trial = FaultTrial(area: .http2, fault: cell.description, moment: .middle)
                        let result = try await site.run(arguments(site) + ["--retries", "2"])
                        try trial.judge(
                            result, in: site.sandbox, right: [HTTP2Cell.content], errors: [], beside: Self.others)
                    }
                }
            }
        }

        @Test("If a session that resumes gets the fault, its next attempt recovers and continues the partial file")
        func resumed() async throws {
            let cells = FaultTrial.short(HTTP2Cell.all, each: 16)
            try await withCertificates { certificates in
                try await concurrently(cells, atMost: 5) { cell in
                    let slow = cell.healthy.with { $0.bytesPerSecond = 1_000_000 }
                    let isFirst = cell.description == cells[0].description
                    try await site(certificates, [slow], asProcess: isFirst) { site in
                        try await site.interrupt(arguments(site, stallTimeout: 60), after: 500_000)
                        let id = try await site.sandbox.ids(of: [site.server.url()])[0]
                        let kept = try await site.sandbox.show(id).received
                        #expect(kept > 0, "\(cell)")
                        let asked = Observed(0)
                        site.server.handle { request in
                            guard request.target == "/file.bin" else { return Self.other }
                            asked.update { $0 += 1 }
                            return asked.value == 1 ? cell.broken : cell.healthy
                        }
                        let trial = FaultTrial(area: .http2, fault: cell.description, moment: .resume)
                        let result = try await site.run(arguments(site))
                        try trial.judge(
                            result, in: site.sandbox, right: [HTTP2Cell.content], errors: [], beside: Self.others)
                        let requests = site.server.log.requests(to: "/file.bin")
                        let start = requests.count > 1 ? requests[1].start : nil
                        // The range begins a little earlier, for the overlap check.
                        if cell.healthy.etag != nil { #expect(start ?? 0 >= kept * 7 / 8, "\(trial)") }
                    }
                }
            }
        }

        @Test("A permanent fault is an error, and the download succeeds once the server is healthy")
        func stays() async throws {
            try await withCertificates { certificates in
                try await concurrently(FaultTrial.short(HTTP2Cell.all, each: 11), atMost: 5) { cell in
                    try await site(certificates, [cell.broken]) { site in
                        let trial = FaultTrial(area: .http2, fault: "\(cell), for ever")
                        let result = try await site.run(arguments(site))
                        if result.ending == .exited(4), site.sandbox.exists("file.bin") {
                            // The attempts fetched the file in pieces. Exit status 4 is from another file on the same
                            // connection.
                            try expectFile(HTTP2Cell.content, "file.bin", in: site.sandbox, trial)
                            let areOfOthers = result.errorLines.allSatisfy { line in
                                line.contains(": other") || line.contains("/other")
                            }
                            #expect(areOfOthers, "\(result.stderr)")
                            return trial.note(outcome: "right")
                        }
                        try trial.judge(
                            result, in: site.sandbox, right: [HTTP2Cell.content], errors: [4, 7, 9],
                            beside: Self.others)
                        if result.ending == .exited(0) { return }
                        site.server.handle { $0.target == "/file.bin" ? cell.healthy : Self.other }
                        let healed = try await site.run("get", site.server.url())
                        try expectDownloaded(HTTP2Cell.content, as: "file.bin", by: healed, in: site.sandbox, trial)
                    }
                }
            }
        }

        @Test("The failure of one stream among many affects no other stream: the other files are fetched once")
        func oneOfMany() async throws {
            let contents = (0..<20).map { Content(seed: UInt64(500 + $0), size: 100_000 + Int64($0)) }
            let cells = HTTP2Cell.all.filter(\.isOfOneStream)
            try await withCertificates { certificates in
                try await concurrently(FaultTrial.short(cells, each: 6), atMost: 3) { cell in
                    let asked = Observed(0)
                    try await withSecureDlm(
                        certificates, tls: { $1.with { $0.offersHTTP2 = true } },
                        { request in
                            if let number = Int(request.target.dropFirst(5)) {
                                return FaultReply(contents[number], etag: "\"g\"").with { $0.bytesPerSecond = 400_000 }
                            }
                            asked.update { $0 += 1 }
                            return asked.value == 1 ? cell.broken : cell.healthy
                        }
                    ) { site in
                        let names = contents.indices.map { "good\($0)" }
                        let urls = (names[..<8] + ["file.bin"] + names[8...]).map { site.server.url("/\($0)") }
                        let result = try await site.run(
                            ["get", "--retries", "1", "--retry-delay", "0.1", "--stall-timeout", "\(Self.patience)"]
                                + urls)
                        let trial = FaultTrial(area: .http2, fault: "\(cell), one of 21 files", moment: .segment)
                        try trial.judge(
                            result, in: site.sandbox, right: [HTTP2Cell.content], errors: [], beside: names)
                        for (name, content) in zip(names, contents) {
                            try expectFile(content, name, in: site.sandbox, trial)
                            #expect(site.server.log.requests(to: "/\(name)").count == 1, "\(trial) \(name)")
                        }
                    }
                }
            }
        }
    }
}
