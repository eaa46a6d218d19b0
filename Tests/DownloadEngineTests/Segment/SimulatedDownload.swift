import DownloadCore
import DownloadTestSupport
import Foundation

@testable import DownloadEngine

extension SegmentPlanner {
    /// Whether all bytes have come.
    var isDone: Bool { connections.isEmpty && free.isEmpty }
}

/// One download from a simulated server. The planner makes the decisions.
struct SimulatedDownload {
    private(set) var time = 0.0
    private(set) var requests = 0
    private(set) var cuts = 0
    private(set) var mostConnections = 0
    /// The number of bytes that were fetched twice, whether the planner declared them or not.
    private(set) var repeated: Int64 = 0
    private(set) var undeclared: Int64 = 0
    private(set) var refusals = 0
    /// The number of network connections to each address.
    private(set) var opened: [Int: Int] = [:]
    private(set) var complaints: [String] = []
    private(set) var steps: [(at: Double, connections: Int)] = []
    private(set) var knowledge: HostKnowledge?

    private struct Request {
        let connection: Int
        let slot: Int
        let range: Range<Int64>
        var end: Int64
        var position: Int64
        var first: Double
        let latency: Double
        /// The number of the network connection, in the order in which they were opened.
        let number: Int
        let address: Int
        var isAnswered = false
        var credit = 0.0
        var isCut = false
    }

    private let server: SimulatedServer
    private let size: Int64
    private var running: [Request] = []
    private var done = ByteRanges()
    private var declared = ByteRanges()
    private var open: [Int: (slot: Int, number: Int)] = [:]
    /// The bytes that each network connection has brought.
    private var brought: [Int: Int64] = [:]
    /// The time until which all connections are throttled.
    private var throttled = -Double.infinity
    /// The time since which there are too many connections.
    private var above: Double?
    private var sent: [(at: Double, bytes: Double)] = []
    /// The seconds in which there were so many connections.
    private(set) var seconds: [Int: Double] = [:]
    private var random: SplitMix64
    private let step: Double
    /// The speeds of the slots in one period, by the number of the slot.
    private var speeds: (period: Int, ofSlots: [Int: Double]) = (-1, [:])

    static func run(
        _ server: SimulatedServer, size: Int64, wish: Int?, automaticLimit: Int = SegmentPlanner.automaticLimit,
        knowledge: HostKnowledge? = nil, step: Double = 0.01
    ) -> SimulatedDownload {
        var download = SimulatedDownload(server: server, size: size, random: SplitMix64(seed: server.seed), step: step)
        download.fetch(wish: wish, automaticLimit, knowledge: knowledge)
        return download
    }

    private init(server: SimulatedServer, size: Int64, random: SplitMix64, step: Double) {
        self.server = server
        self.size = size
        self.random = random
        self.step = step
    }

    private mutating func fetch(wish: Int?, _ automaticLimit: Int, knowledge known: HostKnowledge?) {
        // The first request is the probe.
        let latency = 2 * server.roundTrip + server.delay
        time = latency
        let lease = wish == nil || wish == 1 ? 0..<size : 0..<min(size, 4 << 20)
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<size]), first: (0, lease), wish: wish, automaticLimit: automaticLimit,
            knowledge: known, mayChooseAddress: server.addresses.count > 1, now: time)
        ask(0, lease, to: 0, latency: latency, sent: 0)
        var ticked = time
        planner.answered(0, after: latency, at: time)
        obey(planner.handle(.tick, at: time), &planner)
        running[0].isAnswered = true
        let most = wish ?? automaticLimit
        while !running.isEmpty {
            time += step
            guard time < 5000 else { return complaints.append("does not end") }
            advance()
            tell(&planner)
            if planner.asksForAddresses() { planner.found(addresses: server.addresses.count) }
            if planner.tickInterval.map({ time - ticked >= $0 }) ?? false {
                ticked = time
                planner.progress(positions, at: time)
                obey(planner.handle(.tick, at: time), &planner)
            }
            if running.count > most { complaints.append("\(running.count) connections at \(time)") }
            if running.count > mostConnections { steps.append((time, running.count)) }
            mostConnections = max(mostConnections, running.count)
        }
        if done != ByteRanges([0..<size]) { complaints.append("missing: \(done.missing(in: 0..<size).ranges)") }
        if !planner.isDone { complaints.append("the planner is not done") }
        let date = Date(timeIntervalSince1970: 0)
        knowledge = planner.learned.map { HostKnowledge(best: $0, cap: planner.cap, learned: date) }
    }

    private var positions: [(connection: Int, position: Int64)] {
        running.filter(\.isAnswered).map { ($0.connection, $0.position) }
    }

    private mutating func ask(
        _ connection: Int, _ range: Range<Int64>, to address: Int, latency: Double, sent: Double
    ) {
        requests += 1
        if range.isEmpty { complaints.append("asks for nothing") }
        if running.contains(where: { $0.connection == connection }) {
            complaints.append("two requests on one connection")
        }
        let used = Set(open.values.map(\.slot))
        if open[connection] == nil {
            open[connection] = ((0...).first { !used.contains($0) } ?? 0, opened.values.reduce(0, +))
            opened[address, default: 0] += 1
        }
        let (slot, number) = open[connection] ?? (0, 0)
        running.append(
            Request(
                connection: connection, slot: slot, range: range, end: range.upperBound,
                position: range.lowerBound, first: sent + latency, latency: latency, number: number,
                address: address))
    }

    private mutating func obey(_ decisions: [SegmentPlanner.Decision], _ planner: inout SegmentPlanner) {
        for decision in decisions {
            switch decision {
            case .ask(let connection, let range): start(connection, range, to: planner.address(of: connection))
            case .duplicate(let connection, let range, _):
                declared.insert(range)
                start(connection, range, to: planner.address(of: connection))
            case .cut(let connection, let end):
                guard let index = running.firstIndex(where: { $0.connection == connection }) else {
                    complaints.append("cuts what does not run")
                    continue
                }
                cuts += 1
                running[index].end = max(end, running[index].position)
                running[index].isCut = true
            }
        }
    }

    private mutating func start(_ connection: Int, _ range: Range<Int64>, to address: Int) {
        let isKept = open[connection] != nil
        let hesitation = server.hesitation > 0 ? Double.random(in: 0..<server.hesitation, using: &random) : 0
        ask(
            connection, range, to: address,
            latency: (isKept ? 1 : 2) * server.roundTrip + hesitation + server.delay, sent: time)
    }

    /// Transfers the bytes of one step.
    private mutating func advance() {
        var rates: [Double] = []
        let factor = throttling()
        for request in running {
            rates.append(
                request.isAnswered && request.position < request.end
                    ? speed(of: request) * factor * server.addresses[request.address] : 0)
        }
        seconds[running.count, default: 0] += step
        let sum = rates.reduce(0, +)
        if sum > server.line { rates = rates.map { $0 * server.line / sum } }
        for index in running.indices where running[index].isAnswered {
            running[index].credit += rates[index] * step
            let pieces = Int64(running[index].credit) / server.piece
            running[index].credit -= Double(pieces * server.piece)
            let count = min(running[index].end - running[index].position, pieces * server.piece)
            running[index].position += count
            brought[running[index].number, default: 0] += count
            if server.quota != nil { sent.append((time, Double(count))) }
        }
    }

    /// Returns the factor for all speeds at this moment.
    private mutating func throttling() -> Double {
        var factor = server.change.map { time >= $0.at ? $0.factor : 1 } ?? 1
        if let collapse = server.collapse {
            above = running.count > collapse.above ? above ?? time : nil
            if let above, time - above >= server.collapseDelay { throttled = time + collapse.seconds }
            if time < throttled { factor *= collapse.factor }
        }
        if let quota = server.quota {
            sent.removeAll { $0.at < time - quota.seconds }
            let isMuch = sent.reduce(0) { $0 + $1.bytes } > quota.bytes
            if running.count > quota.above, isMuch { factor *= quota.factor }
        }
        return factor
    }

    private mutating func speed(of request: Request) -> Double {
        if let silence = server.silence, request.number % silence.each == silence.each - 1,
            brought[request.number, default: 0] >= silence.after
        {
            return 0
        }
        if let lots = server.lots {
            var random = SplitMix64(seed: server.seed &* 7919 &+ UInt64(request.number))
            for _ in 0..<4 { _ = random.next() }
            return exp(Double.random(in: log(lots.lowerBound)...log(lots.upperBound), using: &random))
        }
        let slot = request.slot
        let period = Int(time / server.period)
        if speeds.period != period { speeds = (period, [:]) }
        if let known = speeds.ofSlots[slot] { return known }
        let speed = server.speed(of: slot, at: time)
        speeds.ofSlots[slot] = speed
        return speed
    }

    /// Reports the events of this step to the planner.
    private mutating func tell(_ planner: inout SegmentPlanner) {
        for request in running {
            guard let index = running.firstIndex(where: { $0.connection == request.connection }) else { continue }
            if !request.isAnswered, time >= request.first {
                answer(index, &planner)
            } else if request.isAnswered {
                let isLost = Double.random(in: 0..<1, using: &random) < server.losses * step || isBroken(request)
                if request.position >= request.end || isLost {
                    end(index, request.position < request.end ? .lost : request.isCut ? .cut : .complete, &planner)
                }
            } else if request.isCut {
                end(index, .cut, &planner)
            }
        }
    }

    private func isBroken(_ request: Request) -> Bool {
        guard let breaks = server.breaks else { return false }
        var random = SplitMix64(seed: server.seed &* 104_729 &+ UInt64(request.number))
        for _ in 0..<4 { _ = random.next() }
        return brought[request.number, default: 0] >= Int64.random(in: breaks, using: &random)
    }

    private mutating func answer(_ index: Int, _ planner: inout SegmentPlanner) {
        if server.addresses[running[index].address] == 0 {
            if !planner.leaveAddress(of: running[index].connection, isDeclined: false) {
                complaints.append("no other address")
            }
            return end(index, .cut, &planner)
        }
        if running.count(where: \.isAnswered) >= server.limit {
            if server.refusal == .silence {
                running[index].first = .infinity
                return
            }
            refusals += 1
            return end(index, .refused, &planner)
        }
        running[index].isAnswered = true
        let id = running[index].connection
        planner.progress(positions, at: time)
        planner.answered(id, after: running[index].latency, at: time)
        running[index].position = min(running[index].end, running[index].position + server.burst)
    }

    private mutating func end(_ index: Int, _ ending: SegmentPlanner.Ending, _ planner: inout SegmentPlanner) {
        let request = running.remove(at: index)
        if ending != .complete { open[request.connection] = nil }
        let brought = request.range.lowerBound..<request.position
        repeated += count(brought, in: done)
        if let lacking = brought.isEmpty ? nil : declared.missing(in: brought) {
            for part in lacking.ranges { undeclared += count(part, in: done) }
        }
        done.insert(brought)
        planner.progress(positions, at: time)
        obey(planner.handle(.ended(request.connection, position: request.position, ending), at: time), &planner)
    }

    private func count(_ range: Range<Int64>, in set: ByteRanges) -> Int64 {
        Int64(range.count) - (set.union(ByteRanges([range])).count - set.count)
    }
}
