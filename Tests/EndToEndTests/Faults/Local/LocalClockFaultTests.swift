import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of the clock, and quotas", .serialized, .timeLimit(.minutes(3)))
    struct LocalClockFaultTests {
        static let decade: Int64 = 10 * 366 * 86_400
        /// The jumps of the clock in seconds. 30 years ahead is beyond the year 2038, and 60 years back is before 1970.
        static let jumps: [Int64] = [-decade, decade, 3 * decade, -6 * decade, 3600, -3600]

        private func withShim(_ body: (SystemShim) async throws -> Void) async throws {
            let shim = try SystemShim()
            try await body(shim)
        }

        private static func launch(_ launch: ProcessLaunch, _ shim: SystemShim, quota: Int64? = nil) -> ProcessLaunch {
            var shimmed = launch
            shimmed.environment.merge(shim.environment(quota: quota)) { $1 }
            return shimmed
        }

        @Test("If the clock jumps during a download, and between pause and resume, the file is right")
        func jump() async throws {
            try await eachCell(FaultTrial.short(Self.jumps, each: 1)) { try await jump($0) }
        }

        private func jump(_ seconds: Int64) async throws {
            try await withShim { shim in
                try await withDlm(serving: LocalTrial.reply(connections: 4)) { sandbox, server in
                    let fault = "clock jumps by \(seconds) s"
                    let underway = LocalTrial(fault, moment: .middle, connections: 4, sandbox, server)
                    // The file cannot be complete before the signal, however slow this machine is.
                    server.holdEnds()
                    let process = try ChildProcess(Self.launch(try underway.launch(["--progress", "plain"]), shim))
                    #expect(await server.waitUntil { $0.bytesSent >= LocalTrial.underway })
                    try shim.setClock(seconds)
                    await underway.waitForTraffic(LocalTrial.underway)
                    try await process.expectEnd(by: SIGTERM)
                    server.releaseEnds()

                    try shim.setClock(-seconds)
                    for words in [["list", "--all"], ["list", "--json"], ["show", "1"], ["show", "--json", "1"]] {
                        let result = try await ChildProcess(Self.launch(try sandbox.launch(words), shim)).result()
                        #expect(result.ending == .exited(0), "\(seconds) \(words) \(result.stderr)")
                    }
                    let resume = LocalTrial(fault, moment: .resume, connections: 4, sandbox, server)
                    let result = try await ChildProcess(Self.launch(try resume.launch(), shim)).result()
                    try resume.judge(result, errors: [])
                    #expect(server.log.bytesSentTwice() <= 3 * mebibyte, "\(seconds)")
                }
            }
        }

        @Test("A date in Retry-After is compared with the server's clock, because the local clock may be years off")
        func retryAfter() async throws {
            try await eachCell([Self.decade, -Self.decade]) { try await retryAfter(ahead: $0) }
        }

        private func retryAfter(ahead: Int64) async throws {
            try await withShim { shim in
                let good = FaultReply(LocalTrial.content, etag: "\"v1\"")
                try await withDlm({ request in
                    let date = HTTPDate.string(Date(timeIntervalSinceNow: 2))
                    return request.number == 1 ? FaultReply(status: 503, fields: [("Retry-After", date)]) : good
                }) { sandbox, server in
                    let trial = LocalTrial("clock \(ahead) s ahead, Retry-After as a date", sandbox, server)
                    try shim.setClock(ahead)
                    let result = try await ChildProcess(Self.launch(try trial.launch(), shim)).result()
                    try trial.judge(result, errors: [])
                    let arrivals = server.log.entries.map(\.request.arrival)
                    try #require(arrivals.count == 2)
                    #expect(arrivals[1] - arrivals[0] >= .seconds(1), "\(ahead)")
                }
            }
        }

        @Test("If a quota is reached, the status is 3; with a larger quota the download continues")
        func quota() async throws {
            let quotas: [Int64] = [3 * mebibyte, 0, 1, 262_144, 6 * mebibyte]
            try await eachCell(withConnections(FaultTrial.short(quotas, each: 5), short: 4)) { quota, connections in
                try await withShim { shim in
                    let reply = LocalTrial.reply(connections: connections)
                    try await withDlm(serving: reply) { sandbox, server in
                        let trial = LocalTrial("quota of \(quota) bytes", connections: connections, sandbox, server)
                        let launch = Self.launch(try trial.launch(), shim, quota: quota)
                        let result = try await ChildProcess(launch).result()
                        try trial.judge(result, errors: [3])
                        #expect(result.stderr.contains("no space left"), "\(result.stderr)")
                        try await trial.expectRecovery()
                    }
                }
            }
        }
    }
}
