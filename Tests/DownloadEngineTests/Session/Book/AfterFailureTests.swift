import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("AfterFailure: what follows a failed attempt", .inTurn)
struct AfterFailureTests {
    private static let busy = DownloadError.serverRefused(status: 503, phrase: "busy")
    private static let changed = DownloadError.networkFailed(.networkChanged, TransportDiagnosis(code: 6, message: "x"))
    private let time = ContinuousClock.now

    private func decide(
        _ failed: FailedAttempt, isNetworkDown: Bool = false, retries: Int = 3
    ) throws -> AfterFailure {
        let url = try SourceURL.parse("http://a.example/x").get().url
        var request = DownloadRequest(url: url, destination: Destination(folder: "/nowhere"))
        request.retry = RetryPolicy(limit: retries, delay: .seconds(10), maximumDelay: .seconds(10))
        var record = DownloadRecord(id: 1, request: request, created: Date(timeIntervalSince1970: 0))
        return AfterFailure.decide(&record, failed, now: time) { isNetworkDown }
    }

    @Test("A network failure does not count while the network is down or has changed; without retries it is final")
    func network() throws {
        #expect(try decide(FailedAttempt(error: Self.changed), isNetworkDown: true) == .network(failures: 0))
        #expect(try decide(FailedAttempt(error: Self.changed, failures: 2)) == .retry(after: 0, failures: 2))
        let isFinal = try decide(FailedAttempt(error: Self.changed), isNetworkDown: true, retries: 0)
        #expect(isFinal == .fail(Self.changed), "without retries every failure is final")
    }

    @Test("A delay that no date can hold is a long one")
    func endless() throws {
        let failed = FailedAttempt(error: Self.busy, decision: .retry(after: .seconds(Int64.max)))
        #expect(try decide(failed) == .retry(after: 1e9, failures: 1))
    }

    @Test("If the URL was refreshed after a failure, the next attempt follows at once, and the failure counts")
    func renewed() throws {
        let failed = FailedAttempt(error: Self.busy, isRenewed: true, failures: 1)
        #expect(try decide(failed) == .retry(after: 0, failures: 2))
    }

    @Test(
        "A download fails with the first failure after its last retry",
        arguments: [(0, false), (2, false), (3, true)])
    func limit(failures: Int, isFinal: Bool) throws {
        let next = try decide(FailedAttempt(error: Self.busy, failures: failures))
        guard case .retry(_, let count) = next else {
            #expect(next == .fail(Self.busy))
            return #expect(isFinal)
        }
        #expect(!isFinal && count == failures + 1)
    }

    @Test("A download fails now if its next attempt would begin after its time limit")
    func overdue() throws {
        let next = try decide(FailedAttempt(error: Self.busy, deadline: time + .milliseconds(1)))
        guard case .fail(let error) = next else {
            Issue.record("\(next)")
            return
        }
        #expect(error != Self.busy)
    }
}
