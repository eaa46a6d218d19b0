import Synchronization

@testable import DownloadCore

/// A machine with a network until a test takes the network away.
final class FakeNetwork: LocalNetwork {
    private struct State {
        var isUp = true
        var hasChanged = false
        var asleep = Duration.zero
    }

    private let state = Mutex(State())

    func set(up isUp: Bool, tells: Bool = true) {
        state.withLock { state in
            state.isUp = isUp
            state.hasChanged = tells
        }
    }

    func suspend(for duration: Duration) { state.withLock { $0.asleep += duration } }

    func hasChanged() -> Bool {
        state.withLock { state in
            defer { state.hasChanged = false }
            return state.hasChanged
        }
    }

    func usableAddresses() -> Set<String>? { state.withLock { $0.isUp ? ["10.0.0.2"] : [] } }
    func reaches(_ address: String, from source: NetworkPath.Source?) -> Bool? { state.withLock { $0.isUp } }
    func has(_ source: NetworkPath.Source) -> Bool { state.withLock { $0.isUp } }
    func nameServers() -> [String] { ["10.0.0.53"] }
    func timeAsleep() -> Duration { state.withLock { $0.asleep } }
}
