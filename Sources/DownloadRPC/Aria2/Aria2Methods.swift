import DownloadCore

struct Aria2Method: Sendable {
    let name: String
    /// The code of the method. Nil for `system.multicall`, whose calls ``JSONRPC`` runs.
    let run: (@Sendable (Aria2Session, Parameters) async throws -> JSONValue)?

    init(_ name: String, _ run: (@Sendable (Aria2Session, Parameters) async throws -> JSONValue)?) {
        self.name = name
        self.run = run
    }

    static let all: [Aria2Method] = [
        Aria2Method("aria2.addUri") { try await $0.addURI($1) },
        Aria2Method("aria2.addTorrent") { _, _ in throw Aria2Session.noBitTorrent },
        Aria2Method("aria2.getPeers") { try await $0.peers($1) },
        Aria2Method("aria2.addMetalink") { try await $0.addMetalink($1) },
        Aria2Method("aria2.remove") { try await $0.remove($1) },
        Aria2Method("aria2.pause") { try await $0.pause($1) },
        Aria2Method("aria2.forcePause") { try await $0.pause($1) },
        Aria2Method("aria2.pauseAll") { session, _ in try await session.pauseAll() },
        Aria2Method("aria2.forcePauseAll") { session, _ in try await session.pauseAll() },
        Aria2Method("aria2.unpause") { try await $0.unpause($1) },
        Aria2Method("aria2.unpauseAll") { session, _ in try await session.unpauseAll() },
        Aria2Method("aria2.forceRemove") { try await $0.remove($1) },
        Aria2Method("aria2.changePosition") { try await $0.changePosition($1) },
        Aria2Method("aria2.tellStatus") { try await $0.status(of: $1).object(try $1.keys(1)) },
        Aria2Method("aria2.getUris") { .array(try await $0.status(of: $1).uris) },
        Aria2Method("aria2.getFiles") { [try await $0.status(of: $1).file] },
        Aria2Method("aria2.getServers") { try await $0.servers($1) },
        Aria2Method("aria2.tellActive") { try await $0.active($1) },
        Aria2Method("aria2.tellWaiting") { session, parameters in
            try await session.part(parameters) { try await session.waitingOnes() }
        },
        Aria2Method("aria2.tellStopped") { session, parameters in
            try await session.part(parameters) { try await session.endedOnes() }
        },
        Aria2Method("aria2.getOption") { try await $0.option($1) },
        Aria2Method("aria2.changeUri") { try await $0.changeURI($1) },
        Aria2Method("aria2.changeOption") { try await $0.changeOption($1) },
        Aria2Method("aria2.getGlobalOption") { session, _ in try await session.globalOption() },
        Aria2Method("aria2.changeGlobalOption") { try await $0.changeGlobalOption($1) },
        Aria2Method("aria2.purgeDownloadResult") { session, _ in try await session.purgeResults() },
        Aria2Method("aria2.removeDownloadResult") { try await $0.removeResult($1) },
        Aria2Method("aria2.getVersion") { _, _ in Aria2Session.version },
        Aria2Method("aria2.getSessionInfo") { session, _ in ["sessionId": .string(session.identifier)] },
        Aria2Method("aria2.shutdown") { session, _ in await session.shutdown() },
        Aria2Method("aria2.forceShutdown") { session, _ in await session.shutdown() },
        Aria2Method("aria2.getGlobalStat") { session, _ in try await session.globalStat() },
        // There is nothing to do, because everything is on disk already.
        Aria2Method("aria2.saveSession") { _, _ in "OK" },
        Aria2Method("system.multicall", nil),
        Aria2Method("system.listMethods") { _, _ in .array(all.map { .string($0.name) }) },
        Aria2Method("system.listNotifications") { _, _ in
            .array(Aria2Notification.allCases.map { .string($0.rawValue) })
        },
    ]

    static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    /// The methods that need no secret, as in aria2.
    static let open: Set = ["system.listMethods", "system.listNotifications"]
    /// The methods that clients call every second and that change nothing.
    static let reading: Set = [
        "aria2.tellActive", "aria2.tellWaiting", "aria2.tellStopped", "aria2.tellStatus", "aria2.getGlobalStat",
    ]
    static let multicall = "system.multicall"
}

/// The notifications to clients with a WebSocket. aria2 has one more, for BitTorrent.
enum Aria2Notification: String, CaseIterable, Sendable {
    case start = "aria2.onDownloadStart"
    case pause = "aria2.onDownloadPause"
    case stop = "aria2.onDownloadStop"
    case complete = "aria2.onDownloadComplete"
    case error = "aria2.onDownloadError"

    /// The notifications about events. aria2 has none for other events.
    static let ofEvents: [LoggedEvent.Kind: Aria2Notification] = [
        .started: .start, .paused: .pause, .cancelled: .stop, .completed: .complete, .failed: .error,
    ]

    func message(_ gid: GID) -> JSONValue {
        ["jsonrpc": "2.0", "method": .string(rawValue), "params": [["gid": .text(gid)]]]
    }
}
