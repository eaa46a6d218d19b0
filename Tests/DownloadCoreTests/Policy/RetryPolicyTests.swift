import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct RetryPolicyTests {
    static let transient = DownloadError.networkFailed(.connectionLost, TransportDiagnosis(code: 56, message: ""))

    @Test(
        "The delay doubles up to its limit, and jitter takes at most half of it",
        arguments: [
            (0, 1.0), (1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 60), (7, 60), (29, 60), (30, 60), (31, 60),
            (63, 60), (64, 60), (1000, 60),
        ])
    func delays(_ failures: Int, _ longest: Double) {
        let policy = RetryPolicy(limit: .max, delay: .seconds(1), maximumDelay: .seconds(60))
        #expect(delay(policy, failures, jitter: 1) == longest)
        #expect(delay(policy, failures, jitter: 0) == longest / 2)
        #expect(delay(policy, failures, jitter: 0.5) == longest * 0.75)
    }

    @Test("The limit counts the attempts after the first one", arguments: 0...6)
    func limit(_ limit: Int) {
        let policy = RetryPolicy(limit: limit, delay: .seconds(0))
        let retries = (0...9).filter { delay(policy, $0, jitter: 0) != nil }
        #expect(retries == Array(0..<limit))
    }

    @Test("Retry-After is a lower bound of the delay, even above the longest delay")
    func retryAfter() {
        let policy = RetryPolicy()
        #expect(policy.decide(Self.transient, failures: 0, retryAfter: 120, jitter: 1) == .retry(after: 120))
        #expect(policy.decide(Self.transient, failures: 0, retryAfter: 3600, jitter: 0) == .retry(after: 3600))
        #expect(policy.decide(Self.transient, failures: 3, retryAfter: 2, jitter: 1) == .retry(after: 8))
        #expect(policy.decide(Self.transient, failures: 0, retryAfter: 0, jitter: 0) == .retry(after: 0.5))
        #expect(policy.decide(Self.transient, failures: 5, retryAfter: 1, jitter: 0) == .giveUp)
    }

    @Test("A delay may be zero; if the longest delay is below the first delay, the longest delay counts")
    func smallDelays() {
        #expect(delay(RetryPolicy(delay: .seconds(0)), 3, jitter: 1) == 0)
        #expect(delay(RetryPolicy(delay: .seconds(10), maximumDelay: .seconds(4)), 0, jitter: 1) == 4)
    }

    @Test(
        "Permanent failures are not retried",
        arguments: [
            DownloadError.cancelled, .serverRefused(status: 404, phrase: ""), .authenticationFailed(status: 401),
            .fileFailed(.noSpace(needed: nil), path: "/a"), .trustFailed(TransportDiagnosis(code: 60, message: "")),
            .requestInvalid(.malformedURL("x")), .protocolViolated(.tooManyRedirects(3)),
        ])
    func permanent(_ error: DownloadError) {
        #expect(RetryPolicy().decide(error, failures: 0, retryAfter: 1, jitter: 0) == .giveUp)
    }

    @Test("Status codes that the user chose are retried like transient failures")
    func chosenStatuses() {
        let policy = RetryPolicy(delay: .seconds(0), statuses: StatusCodes("401,403,520-529"))
        for status in [401, 403, 503, 529] {
            let error: DownloadError =
                status == 401 ? .authenticationFailed(status: 401) : .serverRefused(status: status, phrase: "")
            #expect(policy.decide(error, failures: 0, retryAfter: nil, jitter: 0) == .retry(after: 0), "\(status)")
            #expect(policy.decide(error, failures: 5, retryAfter: nil, jitter: 0) == .giveUp, "\(status)")
        }
        let other = DownloadError.serverRefused(status: 404, phrase: "")
        #expect(policy.decide(other, failures: 0, retryAfter: nil, jitter: 0) == .giveUp)
    }

    @Test("If the time limit of a download has passed, the download is not retried")
    func timeLimit() {
        let error = DownloadError.networkFailed(.timeLimit, TransportDiagnosis(code: 0, message: ""))
        #expect(RetryPolicy(delay: .seconds(0)).decide(error, failures: 0, retryAfter: nil, jitter: 0) == .giveUp)
        #expect(error.exitStatus == 4)
    }

    private func delay(_ policy: RetryPolicy, _ failures: Int, jitter: Double) -> Double? {
        guard
            case .retry(let delay) = policy.decide(Self.transient, failures: failures, retryAfter: nil, jitter: jitter)
        else { return nil }
        return delay
    }
}
