import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of HTTP statuses", .serialized, .timeLimit(.minutes(20)))
    struct StatusFaultTests {
        /// The statuses after which the request is retried (see `DownloadError.transientStatuses`).
        static let transient: Set = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]

        static func group(_ status: Int) -> String {
            switch status {
            case 400, 501: "status \(status)"
            case 401, 407: "status 401 or 407"
            case 416: "status 416 to everything"
            case _ where transient.contains(status) && status < 500: "status 408, 425 or 429"
            case _ where transient.contains(status): "status 500, 502 to 504 or 520 to 524"
            case ..<500: "status 4xx, any other"
            default: "status 5xx, any other"
            }
        }

        static func exit(_ status: Int) -> Int32 { [401, 407].contains(status) ? 6 : 8 }

        static let lasting = (400...599).map { status in
            HTTPFault(group(status), fresh: .fails([exit(status)])) { _, _ in FaultReply(status: status) }
        }

        @Test("If every answer has an HTTP error status, dlm ends with the exit status for it")
        func lasting() async throws {
            let chosen =
                FaultTrial.isFull ? Self.lasting : [0, 1, 4, 8, 16, 29, 51, 100, 103, 199].map { Self.lasting[$0] }
            try await HTTPFaultCell.run(chosen)
        }

        /// The values of Retry-After, and the delay that each value asks for.
        static let requests: [(name: String, pause: Duration, value: @Sendable () -> String)] = [
            ("1", .seconds(1), { "1" }), ("a date", .seconds(1), { HTTPDate.ago(-2) }),
            ("a date that is past", .zero, { HTTPDate.ago(1000) }), ("a date of another kind", .zero, { "tomorrow" }),
            ("a negative number", .zero, { "-5" }), ("of nothing", .zero, { "" }),
        ]

        static let once = requests.flatMap { name, pause, value in
            [400, 403, 404, 408, 413, 425, 429, 500, 501, 502, 503, 504, 520, 524, 599].map { status in
                let isTransient = transient.contains(status)
                let expectation =
                    isTransient || [400, 501].contains(status) ? HTTPFault.Expectation.right : .fails([8])
                // A server that refuses ranges is asked once more without a range, but only for the beginning of the
                // file.
                let later = isTransient ? HTTPFault.Expectation.right : .either([8])
                return HTTPFault("\(group(status)), once, with Retry-After \(name)", fresh: expectation, later: later) {
                    good, request in
                    if request.number > 1 { return good }
                    return FaultReply(status: status, fields: [("Retry-After", value())])
                }.with {
                    $0.pause = isTransient ? pause : nil
                    $0.retries = 3
                }
            }
        }

        @Test("A request that gets a temporary HTTP error status is retried after the Retry-After delay")
        func once() async throws {
            try await HTTPFaultCell.run(FaultTrial.short(Self.once, each: 8), atMost: 10)
        }

        static let odd: [HTTPFault] =
            [201, 202, 203, 204, 205, 207, 208, 226, 299, 300, 304, 305, 306, 309, 399, 600, 700].map { status in
                // The body of a 204 or a 304 is not read. The next request on the connection may get it as its answer.
                let errors: Set<Int32> = [204, 304].contains(status) ? [7, 8] : [8]
                return HTTPFault("status \(status)", fresh: .fails(errors)) { _, _ in FaultReply(status: status) }
            }
            + [301, 302, 303, 307, 308].map { status in
                HTTPFault("status \(status) without Location", fresh: .fails([7])) { _, _ in FaultReply(status: status)
                }
            }
            + [100, 101, 102, 103, 199].map { status in
                HTTPFault("status \(status) and nothing more", fresh: .fails([4, 7])) { _, _ in
                    FaultReply(status: status)
                }
            }

        @Test("An HTTP status that is not valid for the request is an error")
        func odd() async throws { try await HTTPFaultCell.run(FaultTrial.short(Self.odd, each: 4)) }

        /// The answers to a fourth simultaneous request.
        static let limits: [(name: String, reply: FaultReply)] = [
            ("503", FaultReply(status: 503)),
            ("503 with Retry-After 1", FaultReply(status: 503, fields: [("Retry-After", "1")])),
            ("429", FaultReply(status: 429)), ("403", FaultReply(status: 403)),
            ("nothing", FaultReply().with { $0.cut = .silence }),
            ("a reset", FaultReply(HTTPFault.content).with { $0.cut = .reset(after: 0) }),
        ]

        @Test("From a server that allows three requests at a time, four connections fetch the right file")
        func limited() async throws {
            let good = FaultReply(HTTPFault.content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(4 * mebibyte) }
            try await concurrently(Self.limits, atMost: 6) { name, reply in
                try await withDlm(serving: good) { sandbox, server in
                    let refusals = Observed(0)
                    server.handle { [weak server] _ in
                        let running = server?.log.entries.count { !$0.isOver } ?? 0
                        if running > 3 { refusals.update { $0 += 1 } }
                        return running > 3 ? reply : good
                    }
                    server.holdEnds()
                    Task {
                        _ = await refusals.wait { $0 > 0 }
                        server.releaseEnds()
                    }
                    let result = try await sandbox.perform("get", "-x", "4", server.url())
                    let trial = FaultTrial(
                        area: .http, fault: "three requests at a time, the fourth gets \(name)", connections: 4)
                    try trial.judge(result, in: sandbox, right: [good.content], errors: [])
                    #expect(refusals.value > 0, "\(trial)")
                    #expect(server.log.bytesSentTwice() <= promised(atMost: mebibyte, connections: 4), "\(trial)")
                }
            }
        }
    }
}
