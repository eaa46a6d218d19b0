import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("What follows when a connection fails", .inTurn)
struct FailedConnectionTests {
    private static let lost = DownloadError.networkFailed(
        .connectionLost, TransportDiagnosis(code: 56, message: "reset"))

    private static func refused(_ status: Int) -> DownloadError { .serverRefused(status: status, phrase: "") }

    private func decision(
        _ error: DownloadError, status: Int? = nil, others: Bool, progressed: Bool = false, mayAskAgain: Bool = true,
        isHTTP: Bool = true, link: FailedConnection.Link = .own
    ) -> FailedConnection.Decision {
        let isDeclined = error != Self.lost
        return FailedConnection(
            error: error, isDeclined: isDeclined, status: status ?? error.httpStatus, hasProgressed: progressed,
            hasOthers: others, mayAskAgain: mayAskAgain, isHTTP: isHTTP, link: link
        ).decision
    }

    @Test(
        "A refusal of one more connection is only a number",
        arguments: [400, 401, 403, 404, 410, 429, 500, 503, 509, 520])
    func refusals(status: Int) {
        #expect(decision(Self.refused(status), others: true) == .limit)
        #expect(decision(Self.refused(status), others: true, link: .unproved) == .limit)
        #expect(decision(Self.refused(status), others: false) == .fail(isFinal: true))
    }

    @Test("A connection that is lost before its answer counts as refused while others run")
    func lostAtOnce() {
        #expect(decision(Self.lost, others: true) == .limit)
        #expect(decision(Self.lost, status: 206, others: true) == .end(.lost))
        #expect(decision(Self.lost, others: false) == .fail(isFinal: false))
    }

    @Test("After progress the rest is requested at once, also over the only connection")
    func progress() {
        #expect(decision(Self.lost, status: 206, others: true, progressed: true) == .end(.lost))
        #expect(decision(Self.lost, status: 206, others: false, progressed: true) == .end(.lost))
        #expect(
            decision(Self.lost, status: 206, others: false, progressed: true, mayAskAgain: false)
                == .fail(isFinal: false))
    }

    @Test("A URL after a redirect is renewed if bytes have come from it, with and without other connections")
    func links() {
        for status in [400, 401, 403, 404, 410] {
            for others in [true, false] {
                #expect(decision(Self.refused(status), others: others, link: .proved) == .renewLink)
            }
            #expect(decision(Self.refused(status), others: false, link: .unproved) == .fail(isFinal: true))
        }
        #expect(decision(Self.refused(503), others: true, link: .proved) == .limit)
    }

    @Test("If no part can be used, one connection goes on, and the only one requests the whole file")
    func ranges() {
        let wrong = DownloadError.protocolViolated(.wrongRange("x"))
        #expect(decision(wrong, status: 206, others: true) == .end(.unfit))
        #expect(decision(wrong, status: 206, others: false) == .requestWhole)
        #expect(decision(wrong, status: 416, others: false) == .requestWhole)
        let malformed = DownloadError.protocolViolated(.malformedReply("x"))
        #expect(decision(malformed, status: 200, others: false) == .fail(isFinal: true))
        #expect(decision(malformed, others: false, isHTTP: false) == .requestWhole)
    }
}
