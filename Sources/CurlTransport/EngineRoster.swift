/// The numbers of engines over which transfers are spread.
struct EngineLimits {
    /// For requests with a limited range: parts of a file, and the first request of a file that may come in parts.
    let parts: Int
    /// For the other requests. A third engine would only add cost.
    let files: Int
    /// For the other requests while there are so many transfers as many small files have (``crowd``).
    let crowdedFiles: Int

    /// With two cores, two large files over TLS take a fifth more CPU on two engines, and 5,000 small files 11 to 16 %
    /// less time. 1,000 slow downloads take 6 MiB more memory on two engines.
    private static let crowd = 8..<64

    /// One core is left to the threads that write and to a server on the same machine, except while there are many
    /// small files.
    init(cores: Int) {
        parts = max(1, min(3, cores - 1))
        files = min(2, parts)
        crowdedFiles = max(1, min(2, cores))
    }

    init(engines: Int) {
        parts = min(3, engines)
        files = min(2, engines)
        crowdedFiles = files
    }

    func most(isPart: Bool, active: Int) -> Int { isPart ? parts : Self.crowd.contains(active) ? crowdedFiles : files }
}

/// The active transfers of each engine. They decide which engine takes the next transfer.
///
/// An engine with an idle connection to the origin is preferred, because opening a connection takes time. Such an
/// engine is chosen if it has at most one transfer more than the least busy engine. Otherwise an engine without
/// transfers is chosen, then a new engine if the limit allows one, and then the least busy engine. So transfers that
/// follow one another never need a second thread.
struct EngineRoster {
    private struct Engine {
        var active = 0
        var origins: [String: Load] = [:]

        func hasIdle(_ origin: String) -> Bool { origins[origin].map { $0.active < $0.most } ?? false }
    }

    private struct Load {
        var active = 0
        /// The highest number of transfers at the same time. The engine may have as many open connections to the
        /// origin.
        var most = 0

        mutating func begin() {
            active += 1
            most = max(most, active)
        }
    }

    private var engines: [Engine] = []

    /// The number of origins of an engine beyond which idle origins are forgotten.
    private static let longestMemory = 256

    var active: Int { engines.reduce(0) { $0 + $1.active } }

    /// Returns the number of the engine for a transfer. If the number equals the number of engines so far, the caller
    /// must start an engine.
    /// - Parameter limit: the number of engines over which transfers like this one may be spread.
    mutating func choose(_ origin: String, limit: Int) -> Int {
        let few = 0..<min(limit, engines.count)
        let least = lightest(few) { _ in true }
        let most = least.map { engines[$0].active + 1 } ?? 0
        var number = lightest(few) { $0.active <= most && $0.hasIdle(origin) }
        if number == nil, least.map({ engines[$0].active > 0 }) ?? true, few.count < max(1, limit) {
            number = engines.count
            engines.append(Engine())
        }
        let chosen = number ?? least ?? 0
        engines[chosen].active += 1
        engines[chosen].origins[origin, default: Load()].begin()
        return chosen
    }

    /// Returns the first of the engines that meet the condition and have the fewest transfers.
    private func lightest(_ numbers: Range<Int>, _ isSuitable: (Engine) -> Bool) -> Int? {
        var best: Int?
        for number in numbers where isSuitable(engines[number]) {
            if best.map({ engines[number].active < engines[$0].active }) ?? true { best = number }
        }
        return best
    }

    mutating func ended(_ origin: String, on number: Int) {
        engines[number].active -= 1
        if let index = engines[number].origins.index(forKey: origin) {
            engines[number].origins.values[index].active -= 1
        }
        if engines[number].origins.count > Self.longestMemory {
            engines[number].origins = engines[number].origins.filter { $0.value.active > 0 }
        }
    }

    /// Removes the last engine, which could not be started. The caller then chooses another engine for the transfer.
    mutating func dropLast() { engines.removeLast() }
}
