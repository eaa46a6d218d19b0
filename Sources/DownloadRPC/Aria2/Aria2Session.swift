import DownloadControl
import DownloadCore
import Foundation

/// The state and the code of aria2's methods, for all clients of the server.
actor Aria2Session {
    let service: GuardedService
    let report: @Sendable (String) -> Void
    let folders: FolderRule
    let time: any TimeSource
    var gids: GIDTable
    /// The options that `changeGlobalOption` has set for downloads that are added later.
    var globals: [String: JSONValue] = [:]
    /// The options with which downloads were added. `getOption` answers them, so that a client can add the download
    /// again.
    var given: [DownloadID: [String: JSONValue]] = [:]
    /// The options that `changeOption` has set for paused downloads. They are applied when the download is resumed.
    var pending: [DownloadID: (options: [String: JSONValue], overrides: RequestOverrides)] = [:]
    /// The former GIDs of downloads that were added again and have other GIDs now. A client removes the old result by
    /// its former GID afterwards.
    var superseded: Set<GID> = []
    /// The last count of ended downloads, and its time. Counting thousands of downloads takes milliseconds.
    var endedCount: (count: Int, at: ContinuousClock.Instant)?
    /// The downloads that have not ended, kept for a moment. So a client that asks for one list after another finds
    /// each download in exactly one list, even if downloads change their states meanwhile.
    private var unfinishedOnes: (list: [DownloadSnapshot], at: ContinuousClock.Instant)?
    private static let moment = Duration.milliseconds(100)
    let identifier: String
    /// The time between the answer to `shutdown` and the end of the session.
    static let farewell = Duration.seconds(1)

    static let mostRemembered = 10_000
    /// The maximum size in bytes of the options of one download that are kept in memory.
    static let longestOptions = 8 << 10
    /// The number of downloads that are read at once when all downloads are searched.
    private static let page = 1000

    /// - Parameter report: Reports a problem that no caller is waiting to hear about, as text for the user.
    init(
        _ service: GuardedService, _ configuration: RPCConfiguration, time: any TimeSource,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.service = service
        self.report = report
        self.time = time
        folders = FolderRule(configuration)
        gids = GIDTable(path: FileNaming.path(configuration.stateFolder, "rpc-gids"), report: report)
        identifier = (0..<20).map { _ in UInt8.random(in: 0...255) }.hexadecimal
    }

    // MARK: GIDs

    /// Finds a download by its GID, or by a beginning of its GID that no other download has.
    func snapshot(_ text: String) async throws -> DownloadSnapshot {
        guard GID.isPrefix(text) else { throw RPCError("Invalid GID \(text.prefix(64))") }
        if let gid = GID(text) {
            if let id = gids.id(of: gid), let found = try await find(id) { return found }
        } else if text.utf8.count < GID.digits {
            if let found = try await find(prefix: text.lowercased()) { return found }
        }
        throw RPCError("GID \(text) is not found")
    }

    /// Searches all downloads in parts, because there may be a million of them.
    private func find(prefix: String) async throws -> DownloadSnapshot? {
        var (found, after): (DownloadSnapshot?, DownloadID) = (nil, 0)
        while true {
            let page = try await service.snapshots(DownloadSelection(.all, limit: Self.page, after: after))
            for snapshot in page where gid(snapshot).description.hasPrefix(prefix) {
                if found != nil { throw RPCError("GID \(prefix) is not unique") }
                found = snapshot
            }
            guard let last = page.last, page.count == Self.page else { return found }
            after = last.id
        }
    }

    func find(_ id: DownloadID) async throws -> DownloadSnapshot? {
        do { return try await service.snapshot(id) } catch DownloadError.noSuchDownload { return nil }
    }

    /// Returns the status of the download whose GID is the first parameter.
    func status(of parameters: Parameters) async throws -> Aria2Status {
        status(try await snapshot(try parameters.text(0)))
    }

    func gid(_ snapshot: DownloadSnapshot) -> GID { gids.gid(of: snapshot.id) }
    func status(_ snapshot: DownloadSnapshot) -> Aria2Status {
        Aria2Status(snapshot: snapshot, gid: gid(snapshot), folder: place(of: snapshot.record).folder)
    }

    /// Returns a download's folder and name as a client gave them: the name may have folders in front.
    func place(of record: DownloadRecord) -> (folder: String, name: String?) {
        let destination = record.request.destination
        guard let name = given[record.id]?["out"]?.text, let slash = name.lastIndex(of: "/"),
            destination.folder.hasSuffix("/" + name[..<slash])
        else { return (destination.folder, destination.fileName) }
        return (String(destination.folder.dropLast(name[..<slash].count + 1)), name)
    }

    // MARK: Lists

    static let unfinished: Set<DownloadState.Kind> = [.queued, .running, .paused, .waiting]
    static let ended: Set<DownloadState.Kind> = [.completed, .failed, .cancelled]

    private func readUnfinished() async throws -> [DownloadSnapshot] {
        if let unfinishedOnes, unfinishedOnes.at + Self.moment > time.now { return unfinishedOnes.list }
        let list = try await service.snapshots(DownloadSelection(.states(Self.unfinished)))
        unfinishedOnes = (list, time.now)
        return list
    }

    /// Forgets the kept lists. Called before and after a call that may change something.
    func forgetLists() {
        unfinishedOnes = nil
        endedCount = nil
    }

    func activeOnes() async throws -> [DownloadSnapshot] {
        try await readUnfinished().filter { status($0).state == .active }
    }

    /// Returns the waiting and paused downloads, in the order in which they would begin.
    func waitingOnes() async throws -> [DownloadSnapshot] {
        try await readUnfinished().filter { [.waiting, .paused].contains(status($0).state) }.sorted {
            QueueOrder.Entry($0).precedes(QueueOrder.Entry($1))
        }
    }

    /// The maximum number of ended downloads that are read. aria2 itself keeps 1,000.
    static let mostEnded = 10_000

    /// Returns the ended downloads, in the order in which they ended.
    func endedOnes() async throws -> [DownloadSnapshot] {
        let found = try await service.snapshots(DownloadSelection(.states(Self.ended), limit: Self.mostEnded))
        return found.sorted { ($0.record.updated, $0.id) < ($1.record.updated, $1.id) }
    }

    func active(_ parameters: Parameters) async throws -> JSONValue {
        let keys = try parameters.keys(0)
        return .array(try await activeOnes().map { status($0).object(keys) })
    }

    /// Answers a part of a list, for an offset, a number and keys.
    func part(_ parameters: Parameters, of list: () async throws -> [DownloadSnapshot]) async throws -> JSONValue {
        let (offset, number) = (try parameters.integer(0), try parameters.integer(1))
        let list = try await list()
        let keys = try parameters.keys(2)
        return .array(
            ListPart.indices(count: list.count, offset: offset, number: number).map { status(list[$0]).object(keys) })
    }

    func globalStat() async throws -> JSONValue {
        let (active, waiting) = (try await activeOnes(), try await waitingOnes())
        let speed = active.reduce(0) { $0 + status($1).speed }
        let ended = try await countEnded()
        return [
            "downloadSpeed": .text(speed), "uploadSpeed": "0", "numActive": .text(active.count),
            "numWaiting": .text(waiting.count), "numStopped": .text(ended), "numStoppedTotal": .text(ended),
        ]
    }

    private func countEnded() async throws -> Int {
        if let endedCount, endedCount.count > 500, endedCount.at + .seconds(5) > time.now { return endedCount.count }
        let count = try await service.snapshots(DownloadSelection(.states(Self.ended), limit: Self.mostEnded)).count
        endedCount = (count, time.now)
        return count
    }

    // MARK: The session

    /// The version of aria2 whose RPC dlm implements, because clients compare this version. A field more than aria2's
    /// would be an error for some clients.
    static let version: JSONValue = [
        "version": "1.37.0", "enabledFeatures": ["GZip", "HTTPS", "Message Digest", "Metalink", "SFTP"],
    ]

    /// Answers at once. A second later the session pauses the running downloads and ends.
    func shutdown() -> JSONValue {
        Task { [service, time, report] in
            do {
                try await time.sleep(for: Self.farewell)
                try await service.shutdown(.pause)
            } catch {
                report("aria2.shutdown: \(RPCError(error).message)")
            }
        }
        return "OK"
    }
}

extension QueueOrder.Entry {
    init(_ snapshot: DownloadSnapshot) { self.init(id: snapshot.id, priority: snapshot.record.request.priority) }
}
