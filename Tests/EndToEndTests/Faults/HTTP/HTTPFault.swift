import DownloadTestSupport
import Foundation
import Testing

/// A fault of a server, and the results that dlm may give: a row of the matrix.
struct HTTPFault: Sendable, CustomStringConvertible {
    /// The results that are right for a cell. They allow no more than the fault justifies.
    enum Expectation: Sendable {
        /// The right file, whatever the server does.
        case right
        /// An error with one of these exit statuses, because no file can be proved right.
        case fails(Set<Int32>)
        /// The right file or one of these statuses, depending on the bytes that are already there.
        case either(Set<Int32>)

        var errors: Set<Int32> {
            switch self {
            case .right: []
            case .fails(let statuses), .either(let statuses): statuses
            }
        }

        var allowsFile: Bool { if case .fails = self { false } else { true } }
    }

    /// The row of the table.
    let name: String
    var area = FaultTrial.Area.http
    /// Returns the answer to a request while the fault lasts, made from a good answer. The numbers of the requests
    /// count from the beginning of the fault.
    let spoil: @Sendable (_ good: FaultReply, _ request: FaultRequest) -> FaultReply
    /// The result for a new download.
    var fresh = Expectation.right
    /// The result for a download that already has a partial file. Nil means the same as for a new download.
    var later: Expectation?
    /// The result if one of several connections meets the fault once.
    var segment = Expectation.right
    /// Whether the fault looks like another version, so that the bytes of the old version are discarded.
    var losesPart = false
    /// The right content, if the answers with the fault have another file than the good answer.
    var right: Content?
    /// Whether the fault of one segment lasts for all later requests.
    var lasts = false
    /// The stall timeout in seconds. A healthy connection is never silent for so long, even on a busy machine.
    var stallTimeout = 15
    /// The number of retries. It is enough for a fault that ends by itself.
    var retries = 1
    /// The delay that the first answer asks for.
    var pause: Duration?
    /// The answer of the healthy server. Nil means the good answer.
    var healed: FaultReply?
    /// The good answer.
    var good = FaultReply(HTTPFault.content, etag: "\"v1\"")

    var description: String { name }

    /// The content, which is large enough for four connections (see `SegmentPlanner`).
    static let content = Content(seed: 300, size: 8 * mebibyte)

    init(
        _ name: String, fresh: Expectation = .right, later: Expectation? = nil,
        _ spoil: @escaping @Sendable (FaultReply, FaultRequest) -> FaultReply
    ) {
        self.name = name
        self.fresh = fresh
        self.later = later
        self.spoil = spoil
    }

    /// Creates a fault that changes only properties of the reply.
    init(
        _ name: String, fresh: Expectation = .right, later: Expectation? = nil,
        with change: @escaping @Sendable (inout FaultReply) -> Void
    ) {
        self.init(name, fresh: fresh, later: later) { good, _ in good.with(change) }
    }

    /// Creates a fault that sends raw bytes instead of an answer.
    init(_ name: String, fresh: Expectation, raw: FaultReply.Raw) {
        self.init(name, fresh: fresh) { $0.raw = raw }
    }

    func expectation(_ moment: FaultTrial.Moment) -> Expectation {
        switch moment {
        case .fresh: fresh
        case .middle, .resume: later ?? fresh
        case .segment: segment
        }
    }

    func with(_ change: (inout HTTPFault) -> Void) -> HTTPFault {
        var copy = self
        change(&copy)
        return copy
    }
}

/// One fault at one moment with this many connections.
struct HTTPFaultCell: Sendable {
    let fault: HTTPFault
    let moment: FaultTrial.Moment
    /// The number of connections; 0 for an automatic number.
    let connections: Int
    /// Whether dlm runs in a process of its own.
    var isProcess = false

    static let places: [(FaultTrial.Moment, Int)] = [
        (.fresh, 1), (.segment, 4), (.resume, 1), (.middle, 4), (.resume, 4), (.middle, 1), (.fresh, 4), (.fresh, 0),
        (.middle, 0), (.resume, 0),
    ]

    /// Returns every fault in every place. A place is a moment and a number of connections. In the short form, each
    /// fault is in `count` places, which differ from fault to fault.
    static func cells(
        of faults: [HTTPFault], in places: [(FaultTrial.Moment, Int)] = places, short count: Int = 1
    ) -> [HTTPFaultCell] {
        faults.enumerated().flatMap { index, fault in
            let chosen = FaultTrial.isFull ? 0..<places.count : index * count..<index * count + count
            return chosen.map { place in
                let (moment, connections) = places[place % places.count]
                return HTTPFaultCell(fault: fault, moment: moment, connections: connections)
            }
        }
    }

    /// Runs all cells, several at a time. One cell runs in a process of its own: the first cell that resumes, or the
    /// first cell if none resumes.
    static func run(
        _ faults: [HTTPFault], in places: [(FaultTrial.Moment, Int)] = places, short count: Int = 1,
        atMost limit: Int = 6
    ) async throws {
        var cells = cells(of: faults, in: places, short: count)
        cells[cells.firstIndex { $0.moment == .resume } ?? 0].isProcess = true
        let rightCells = Observed<[String: Set<Int>]>([:])
        try await concurrently(cells, atMost: limit) { cell in
            let isRight = try await cell.run()
            rightCells.update { if isRight { $0[cell.key, default: []].insert(cell.connections) } }
        }
        // More connections are never worse than one.
        for cell in cells where rightCells.value[cell.key]?.contains(1) == true {
            let isRight = rightCells.value[cell.key]?.contains(cell.connections) == true
            #expect(isRight, "\(cell.fault), \(cell.moment): right with -x 1, but not with -x \(cell.count)")
        }
    }

    private var key: String { "\(fault), \(moment)" }
    private var count: String { connections == 0 ? "auto" : "\(connections)" }

    /// Runs the cell. The fault lasts until dlm ends as expected. If dlm has failed, the server becomes healthy,
    /// and then the same command must give the right file.
    /// - Returns: Whether dlm made the right file in spite of the fault.
    @discardableResult
    func run() async throws -> Bool {
        let trial = FaultTrial(area: fault.area, fault: fault.name, moment: moment, connections: connections)
        var isRight = false
        try await withDlm(serving: fault.good) { sandbox, server in
            if moment == .resume {
                try await Self.leavePart(fault.good, connections, sandbox, server, asProcess: isProcess)
            }
            let asked = server.log.entries.count
            server.handle { reply(to: $0, after: asked) }
            let result = try await get(sandbox, server)
            let expectation = fault.expectation(moment)
            try trial.judge(
                result, in: sandbox, right: expectation.allowsFile ? right : [], errors: expectation.errors)
            if result.ending == .exited(0) {
                isRight = true
                return expectPause(trial, server.log.entries.dropFirst(asked))
            }
            try await heal(trial, sandbox, server)
        }
        return isRight
    }

    /// The right contents. The old version is right if it had arrived before the new version.
    private var right: [Content] {
        [fault.right ?? fault.good.content] + (fault.right != nil && moment == .segment ? [fault.good.content] : [])
    }

    private func heal(_ trial: FaultTrial, _ sandbox: DlmSandbox, _ server: FaultServer) async throws {
        let usesPart = (moment == .middle || moment == .resume) && !fault.losesPart && fault.right == nil
        if usesPart { #expect(sandbox.exists("file.bin.part"), "\(trial): what was fetched is gone") }
        // The attempt may have failed at one connection before the others had got all bytes that were sent to them.
        let isRace = moment == .middle && connections != 1
        let part = usesPart && isRace ? min(Self.partSize, try await sandbox.show(1).received) : Self.partSize
        let good = fault.healed ?? fault.good
        server.handle { _ in good }
        let sent = server.log.bytesSent
        let result = try await get(sandbox, server)
        try expectDownloaded(good.content, as: "file.bin", by: result, in: sandbox, "\(trial), healed")
        let limit = good.content.size - part + mebibyte / 4
        #expect(!usesPart || server.log.bytesSent - sent <= limit, "\(trial): what was fetched was not used")
    }

    private func expectPause(_ trial: FaultTrial, _ entries: ArraySlice<ServerLog.Entry>) {
        guard let pause = fault.pause, moment != .segment, moment != .middle || connections == 1 else { return }
        let arrivals = entries.dropFirst(moment == .middle ? 1 : 0).map(\.request.arrival)
        #expect(arrivals.count >= 2 && arrivals[1] - arrivals[0] >= pause, "\(trial): came back too soon")
    }

    /// The number of bytes that the partial file has when the fault begins, for the moments `middle` and `resume`.
    static let partSize = mebibyte

    private func reply(to request: FaultRequest, after asked: Int) -> FaultReply {
        var request = request
        request.number -= asked
        let number = request.number
        switch moment {
        case .fresh, .resume: return fault.spoil(fault.good, request)
        case .middle:
            if number == 1 { return fault.good.with { $0.cut = .close(after: Self.partSize) } }
            request.number -= 1
            return fault.spoil(fault.good, request)
        case .segment:
            let slow = fault.good.with { $0.bytesPerSecond = Int(16 * mebibyte) }
            request.number -= 2
            return number == 3 || fault.lasts && number > 3 ? fault.spoil(slow, request) : slow
        }
    }

    private func get(
        _ sandbox: DlmSandbox, _ server: FaultServer
    ) async throws -> ChildProcess.Result {
        let arguments = [
            "get", "-x", count, "--retries", "\(fault.retries)", "--retry-delay", "0.1", "--stall-timeout",
            "\(fault.stallTimeout)", server.url(),
        ]
        return try await sandbox.run(arguments, asProcess: isProcess, leaps: fault.pause == nil)
    }

    /// Runs a download that ends with a part of the file, so that another session can continue it.
    static func leavePart(
        _ good: FaultReply, _ connections: Int, _ sandbox: DlmSandbox, _ server: FaultServer, asProcess: Bool = false
    ) async throws {
        server.handle { request in
            let count = partSize / Int64(max(1, connections))
            return good.with { $0.cut = request.number <= max(1, connections) ? .close(after: count) : .silence }
        }
        let result = try await sandbox.run(
            ["get", "-x", "\(max(1, connections))", "--retries", "0", server.url()], asProcess: asProcess)
        try #require(result.ending == .exited(4), "\(result.stderr)")
        try #require(sandbox.names == ["file.bin.part"])
    }
}
