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
        let overrides = pending.removeValue(forKey: id) ?? RequestOverrides()
        _ = try await service.resume([id], overrides: overrides)
    }

    func pauseAll() async throws -> JSONValue {
        let running = try await service.snapshots(DownloadSelection(.states([.queued, .running, .waiting])))
        if !running.isEmpty { _ = try await service.change(running.map(\.id), .pause) }
        return "OK"
    }

    func unpauseAll() async throws -> JSONValue {
        let paused = try await service.snapshots(DownloadSelection(.states([.paused])))
        for id in paused.map(\.id) where pending[id] != nil { try await resume(id) }
        if !paused.isEmpty { _ = try await service.resume(paused.map(\.id), overrides: RequestOverrides()) }
        return "OK"
    }

    /// What has fetched something stays as a result, with what it fetched; what has not is forgotten, as in aria2.
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
            try await service.remove(ids, deletesFile: false)
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

    /// - Returns: the new place.
    @discardableResult
    func move(_ gid: GID, _ offset: Int, _ origin: QueueOrder.Origin) async throws -> Int {
        let entries = try await waitingOnes().map { QueueOrder.Entry($0) }
        guard let id = gids.id(of: gid), let index = entries.firstIndex(where: { $0.id == id }) else {
            // One that has begun already has no place; aria2 begins them a moment later.
            if origin == .start { return 0 }
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
        let found = try await snapshot(try parameters.text(0))
        guard status(found).state == .active else { throw RPCError("No active download for GID#\(gid(found))") }
        return status(found).servers
    }

    func peers(_ parameters: Parameters) async throws -> JSONValue {
        let found = try await snapshot(try parameters.text(0))
        throw RPCError("No peer data is available for GID#\(gid(found))")
    }

    /// `changeUri(gid, fileIndex, delete, add)`: the address may be replaced by another one of the same file.
    func changeURI(_ parameters: Parameters) async throws -> JSONValue {
        let found = try await snapshot(try parameters.text(0))
        guard try parameters.integer(1) == 1 else { throw RPCError("fileIndex is out of range") }
        let deleted = try parameters.list(2).compactMap(\.text)
        let added = try parameters.list(3).compactMap(\.text)
        if deleted.isEmpty, added.isEmpty { return [.integer(0), .integer(0)] }
        let current = found.record.request.url.string
        guard added.count == 1, deleted.contains(current) else {
            throw RPCError("A download has one URI: delete \(current) and add another in its place.")
        }
        let new = try Self.url(added[0])
        _ = try await service.change([found.id], .url(new.url, new.credential))
        return [.integer(1), .integer(1)]
    }
}
