import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("Events", .inTurn)
struct DownloadEventTests {
    private let snapshot: DownloadSnapshot

    init() throws {
        let request = try DownloadRequest("https://h/f")
        snapshot = DownloadSnapshot(
            record: DownloadRecord(id: 1, request: request, state: .running, created: Date(timeIntervalSince1970: 0)))
    }

    private static func logged(_ kind: LoggedEvent.Kind, _ state: DownloadState?) -> LoggedEvent {
        LoggedEvent(
            cursor: 1, time: Date(timeIntervalSince1970: 0), kind: kind, id: 1, name: "f", url: "https://h/f",
            state: state, received: 7)
    }

    @Test("An event that is made from the log has the kind of the log", arguments: LoggedEvent.Kind.allCases)
    func kinds(kind: LoggedEvent.Kind) throws {
        let event = try #require(DownloadEvent(Self.logged(kind, .failed(.cancelled)), of: snapshot))
        #expect(event.kind == kind && event.snapshot == snapshot)
    }

    @Test("A wait after an error is a retry, a failure without an error is no event, and a start has its offset")
    func details() {
        let error = DownloadError.unexpected("x")
        let retry = Self.logged(.waiting, .waiting(.retry(error), until: nil))
        #expect(DownloadEvent(retry, of: snapshot) == .willRetry(snapshot, error))
        let schedule = Self.logged(.waiting, .waiting(.schedule, until: nil))
        #expect(DownloadEvent(schedule, of: snapshot) == .didPostpone(snapshot))
        #expect(DownloadEvent(Self.logged(.failed, nil), of: snapshot) == nil)
        #expect(DownloadEvent(Self.logged(.started, .running), of: snapshot) == .didStart(snapshot, atOffset: 7))
    }

    @Test(
        "The text of a restart says whether the bytes are kept",
        arguments: [
            .folderDeleted, .partialDeleted, .versionUnproved, .partsUnavailable, .partsUnusable, .other("it changed"),
        ] as [RestartReason])
    func restarts(reason: RestartReason) {
        #expect("\(reason)".hasSuffix("the fetched bytes are kept and compared") == reason.keepsBytes)
    }
}
