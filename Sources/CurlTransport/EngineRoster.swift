/// What each engine carries: decides which one takes the next transfer. Pure.
///
/// The one with an idle connection to the origin, for opening another costs time; else the one that carries least; else
/// one more, while there may be more. So one transfer after the other never needs a second thread.
struct EngineRoster {
    private struct Engine {
        var active = 0
        var origins: [String: Load] = [:]

        func hasIdle(_ origin: String) -> Bool { origins[origin].map { $0.active < $0.most } ?? false }
    }

    private struct Load {
        var active = 0
        /// The most that there were at once: so many connections may be open.
        var most = 0

        mutating func begin() {
            active += 1
            most = max(most, active)
        }
    }

    private var engines: [Engine] = []

    /// More origins are not remembered for an engine once they are idle.
    private static let longestMemory = 256

    /// The number of the engine for a transfer; one that equals their number so far is to be started.
    /// - Parameter limit: how many engines such transfers may be spread over.
    mutating func choose(_ origin: String, limit: Int) -> Int {
        let few = engines.indices.prefix(limit)
        let least = few.map { engines[$0].active }.min() ?? .max
        var number = lightest(few.filter { engines[$0].hasIdle(origin) && engines[$0].active <= least + 1 })
        if number == nil, least > 0, few.count < max(1, limit) {
            number = engines.count
            engines.append(Engine())
        }
        let chosen = number ?? lightest(Array(few)) ?? 0
        engines[chosen].active += 1
        engines[chosen].origins[origin, default: Load()].begin()
        return chosen
    }

    private func lightest(_ numbers: [Int]) -> Int? {
        numbers.min { engines[$0].active < engines[$1].active }
    }

    mutating func ended(_ origin: String, on number: Int) {
        engines[number].active -= 1
        engines[number].origins[origin]?.active -= 1
        if engines[number].origins.count > Self.longestMemory {
            engines[number].origins = engines[number].origins.filter { $0.value.active > 0 }
        }
    }

    /// The engine could not be started: the transfers that were to be its own are another's.
    mutating func dropLast() { engines.removeLast() }
}
