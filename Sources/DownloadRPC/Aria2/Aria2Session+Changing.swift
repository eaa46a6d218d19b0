import DownloadControl
import DownloadCore

extension Aria2Session {
    func pause(_ parameters: Parameters) async throws -> JSONValue {
        let found = try await snapshot(try parameters.text(0))
        guard [.active, .waiting].contains(status(found).state) else {
            throw RPCError("GID#\(gid(found)) cannot be paused now")
        }
        _ = try await service.change([found.id], .pause)
        return .text(gid(found))
    }

    func unpause(_ parameters: Parameters) async throws -> JSONValue {
        let found = try await snapshot(try parameters.text(0))
        guard status(found).state == .paused else { throw RPCError("GID#\(gid(found)) cannot be unpaused now") }
        try await resume(found.id)
        return .text(gid(found))
    }

    private func resume(_ id: DownloadID) async throws {
        let overrides = pending.removeValue(forKey: id)?.overrides ?? RequestOverrides()
        _ = try await service.resume([id], overrides: overrides)
    }

    func pauseAll() async throws -> JSONValue {
        let running = try await service.snapshots(DownloadSelection(.states([.queued, .running, .waiting])))
        try await Self.withoutRemoved(running.map(\.id)) { _ = try await service.change($0, .pause) }
        return "OK"
    }

    func unpauseAll() async throws -> JSONValue {
        let paused = try await service.snapshots(DownloadSelection(.states([.paused])))
        for id in paused.map(\.id) where pending[id] != nil {
            try await Self.withoutRemoved([id]) { _ in try await resume(id) }
        }
        try await Self.withoutRemoved(paused.map(\.id)) {
            _ = try await service.resume($0, overrides: RequestOverrides())
        }
        return "OK"
    }

    /// Calls `body` with the downloads, and again without a download that another client has removed meanwhile. Does
    /// not call `body` if no download is left.
    static func withoutRemoved(
        _ ids: [DownloadID], isolation: isolated (any Actor)? = #isolation,
        _ body: ([DownloadID]) async throws -> Void
    ) async throws {
        var ids = ids
        while !ids.isEmpty {
            do {
                return try await body(ids)
            } catch DownloadError.noSuchDownload(let removed) where ids.contains(removed) {
                ids.removeAll { $0 == removed }
            }
        }
    }

    /// Removes a download. A download that runs, or has fetched bytes, is cancelled and stays as a result with its
    /// bytes. A waiting or paused download without bytes is forgotten, as in aria2.
    func remove(_ parameters: Parameters) async throws -> JSONValue {
        let found = try await snapshot(try parameters.text(0))
        switch status(found).state {
        case .active: _ = try await service.change([found.id], .cancel)
        case .waiting, .paused:
            if found.progress.received == 0 {
                try await service.remove([found.id], deletesFile: false)
            } else {
                _ = try await service.change([found.id], .cancel)
            }
        case .complete, .error, .removed: throw RPCError("Active Download not found for GID#\(gid(found))")
        }
        return .text(gid(found))
    }

    func removeResult(_ parameters: Parameters) async throws -> JSONValue {
        let text = try parameters.text(0)
        if let gid = GID(text), superseded.remove(gid) != nil { return "OK" }
        let found = try await snapshot(text)
        guard found.record.state.kind.isEnded else {
            throw RPCError("Could not remove download result of GID#\(gid(found))")
        }
        try await service.remove([found.id], deletesFile: false)
        forget([found.id])
        return "OK"
    }

    func purgeResults() async throws -> JSONValue {
        while true {
            let ids = try await service.snapshots(DownloadSelection(.states(Self.ended), limit: 1000)).map(\.id)
            if ids.isEmpty { break }
            try await Self.withoutRemoved(ids) { try await service.remove($0, deletesFile: false) }
            forget(ids)
        }
        superseded.removeAll()
        endedCount = nil
        return "OK"
    }

    private func forget(_ ids: [DownloadID]) {
        for id in ids {
            given[id] = nil
            pending[id] = nil
        }
        endedCount = nil
    }

    // MARK: Order

    func changePosition(_ parameters: Parameters) async throws -> JSONValue {
        let found = try await snapshot(try parameters.text(0))
        let offset = try parameters.integer(1)
        guard let origin = QueueOrder.Origin(rawValue: try parameters.text(2)) else {
            throw RPCError("Illegal argument.")
        }
        return .integer(Int64(try await move(gid(found), offset, origin)))
    }

    /// Moves a download in the queue.
    /// - Parameter isNew: Whether the download was added just now. It may have begun already, while aria2 begins a new
    ///   download only after the call that adds it, so clients expect no error.
    /// - Returns: The new place.
    @discardableResult
    func move(_ gid: GID, _ offset: Int, _ origin: QueueOrder.Origin, isNew: Bool = false) async throws -> Int {
        let entries = try await waitingOnes().map { QueueOrder.Entry($0) }
        guard let id = gids.id(of: gid), let index = entries.firstIndex(where: { $0.id == id }) else {
            if isNew { return 0 }
            throw RPCError("GID#\(gid) not found in the waiting queue.")
        }
        let target = QueueOrder.target(of: index, in: entries.count, offset, origin)
        for change in QueueOrder.moves(entries, from: index, to: target) {
            _ = try await service.change([change.id], .priority(change.priority))
        }
        return target
    }

    // MARK: Sources

    func servers(_ parameters: Parameters) async throws -> JSONValue {
        let status = try await status(of: parameters)
        guard status.state == .active else { throw RPCError("No active download for GID#\(status.gid)") }
        return status.servers
    }

    func peers(_ parameters: Parameters) async throws -> JSONValue {
        let status = try await status(of: parameters)
        if status.state == .active { return [] }
        throw RPCError("No peer data is available for GID#\(status.gid)")
    }

    /// Handles `changeUri(gid, fileIndex, delete, add)`. The URL may be replaced by another URL of the same file.
    func changeURI(_ parameters: Parameters) async throws -> JSONValue {
        let found = try await snapshot(try parameters.text(0))
        guard try parameters.integer(1) == 1 else { throw RPCError("fileIndex is out of range") }
        let deleted = try parameters.list(2).compactMap(\.text)
        let added = try parameters.list(3).compactMap(\.text)
        let position = try parameters.position(4)
        let request = found.record.request
        var change = URIChange([request.url] + request.mirrors)
        change.delete(deleted)
        var credential: Credential?
        for (offset, text) in added.enumerated() {
            let new = try Self.url(text)
            if change.add(new.url, at: position.map { $0 + offset }) == 0 { credential = new.credential }
        }
        if change.uris == [request.url] + request.mirrors { return change.counts }
        guard let first = change.uris.first else { throw RPCError("The last URI of a download cannot be deleted.") }
        guard request.describedName == nil else {
            throw RPCError("The URIs of this download are those of its Metalink document.")
        }
        guard found.record.state != .completed else { throw RPCError("Cannot change URIs of GID#\(gid(found))") }
        let mirrors = Array(change.uris.dropFirst())
        if mirrors != request.mirrors { _ = try await service.change([found.id], .mirrors(mirrors)) }
        if first != request.url { _ = try await service.change([found.id], .url(first, credential)) }
        return change.counts
    }
}

/// The URIs of a download while `changeUri` changes them, with the counts that aria2 answers.
struct URIChange {
    private(set) var uris: [SourceURL]
    private var (deleted, added) = (0, 0)

    init(_ uris: [SourceURL]) { self.uris = uris }

    /// Removes, for each text, the first URI that is equal to the text.
    mutating func delete(_ texts: [String]) {
        for text in texts {
            guard let index = uris.firstIndex(where: { $0.string == text }) else { continue }
            uris.remove(at: index)
            deleted += 1
        }
    }

    /// - Parameter position: The place of the URI. Nil, or any place behind the end, means the end.
    /// - Returns: the place of the URI.
    mutating func add(_ uri: SourceURL, at position: Int?) -> Int {
        let place = min(position ?? uris.count, uris.count)
        uris.insert(uri, at: place)
        added += 1
        return place
    }

    /// The numbers of deleted and added URIs, which aria2 answers.
    var counts: JSONValue { [.integer(Int64(deleted)), .integer(Int64(added))] }
}
