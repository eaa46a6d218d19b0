import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct DownloadStateTests {
    static let failure = DownloadError.serverRefused(status: 404, phrase: "Not Found")

    static func state(_ kind: DownloadState.Kind) -> DownloadState {
        switch kind {
        case .queued: .queued
        case .running: .running
        case .waiting: .waiting(.retry(failure), until: Date(timeIntervalSince1970: 1))
        case .paused: .paused(.user)
        case .completed: .completed
        case .failed: .failed(failure)
        case .cancelled: .cancelled
        }
    }

    @Test(
        "Exactly these changes of state are legal",
        arguments: [
            (.queued, [.running, .waiting, .paused, .failed, .cancelled]),
            (.running, [.queued, .waiting, .paused, .completed, .failed, .cancelled]),
            (.waiting, [.queued, .running, .paused, .failed, .cancelled]),
            (.paused, [.queued, .cancelled]),
            (.completed, [.queued]),
            (.failed, [.queued, .cancelled]),
            (.cancelled, [.queued]),
        ] as [(DownloadState.Kind, [DownloadState.Kind])])
    func moves(_ from: DownloadState.Kind, _ legal: [DownloadState.Kind]) {
        let state = Self.state(from)
        #expect(state.kind == from)
        #expect(Set(DownloadState.Kind.allCases.filter { state.canMove(to: $0) }) == Set(legal))
    }

    @Test("From every state, every other state can be reached", arguments: DownloadState.Kind.allCases)
    func liveness(_ kind: DownloadState.Kind) {
        var reached: Set<DownloadState.Kind> = [kind]
        for _ in DownloadState.Kind.allCases {
            for from in reached {
                reached.formUnion(DownloadState.Kind.allCases.filter { Self.state(from).canMove(to: $0) })
            }
        }
        #expect(reached == Set(DownloadState.Kind.allCases))
    }

    @Test("Queued, running and waiting downloads are active")
    func active() {
        #expect(DownloadState.Kind.allCases.filter(\.isActive) == [.queued, .running, .waiting])
    }

    @Test(
        "A state survives encoding",
        arguments: DownloadState.Kind.allCases.map(state) + [
            .waiting(.retry(failure), until: nil), .paused(.hangup), .paused(.interrupt), .paused(.terminate),
            .paused(.interrupted),
        ])
    func codable(_ state: DownloadState) throws {
        #expect(try JSONDecoder().decode(DownloadState.self, from: JSONEncoder().encode(state)) == state)
    }
}
