import DownloadCore
import Foundation

extension ControlClient {
    /// Returns the log of the session, from the given cursor on. If a connection breaks and the session still
    /// answers, the log continues from the last event.
    package func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        let reader = LogReader(self, since: cursor)
        try await reader.open()
        return AsyncThrowingStream { try await reader.next() }
    }

    package func events() async -> DownloadEvents {
        let reader = LogReader(self, since: nil)
        guard (try? await reader.open()) != nil else { return DownloadEvents(groups: AsyncStream { nil }) }
        return DownloadEvents(groups: AsyncStream { await reader.nextEvent().map { .events([$0]) } })
    }
}

/// A reader of a session's log, for one caller.
actor LogReader {
    private let client: ControlClient
    private var cursor: EventCursor?
    private var sink: LineSink?
    private var isCaughtUp = false
    /// The number of connections that broke since the last entry was read.
    private var fruitless = 0

    private static let patience = 5

    init(_ client: ControlClient, since cursor: EventCursor?) {
        self.client = client
        self.cursor = cursor
    }

    deinit { sink?.cancel() }

    func open() async throws {
        sink = try await client.stream("events" + (cursor.map { "?since=\($0)" } ?? ""))
    }

    func next() async throws -> LogEntry? {
        while true {
            if let entry = try await read() { return entry }
            sink?.cancel()
            sink = nil
            fruitless += 1
            if fruitless > Self.patience { throw client.bad("its event stream breaks off again and again") }
            if fruitless > 1 { try await client.time.sleep(for: .milliseconds(100 * fruitless)) }
            // `checkAvailability` throws if the session is gone.
            try await client.checkAvailability()
            try await open()
        }
    }

    /// Returns the next event of this session, with a snapshot of its download in the state that the event reports; nil
    /// if the session is gone.
    func nextEvent() async -> DownloadEvent? {
        while let entry = try? await next() {
            guard case .event(let logged) = entry, logged.session == nil || logged.session == client.identifier,
                let snapshot = await logged.snapshot(client), let event = DownloadEvent(logged, of: snapshot)
            else { continue }
            return event
        }
        return nil
    }

    /// Returns the next entry; nil if the connection broke.
    private func read() async throws -> LogEntry? {
        guard let sink else { return nil }
        do {
            while let line = try await sink.next() {
                if line.isEmpty { continue }
                if let entry = try entry(line) { return entry }
            }
            return nil
        } catch LineSink.Failure.transfer {
            return nil
        } catch LineSink.Failure.cancelled {
            throw CancellationError()
        } catch LineSink.Failure.tooLarge {
            throw client.bad("its answer cannot be understood")
        }
    }

    /// Returns the entry of a line; nil for an entry that the caller need not see.
    private func entry(_ line: Data) throws -> LogEntry? {
        let event = try client.decode(WireEvent.self, line)
        if let error = event.error, event.event == nil { throw error.error(from: client.identifier) }
        let entry: LogEntry?
        do { entry = try event.entry() } catch { throw client.bad("its answer cannot be understood") }
        fruitless = 0
        switch entry {
        case .event(let logged): cursor = logged.cursor
        case .didLoseEvents(let lost): cursor = lost
        case .didFinishEvents(let last):
            cursor = last
            // The caller gets this entry once, even if a new connection sends it again.
            if isCaughtUp { return nil }
            isCaughtUp = true
        case nil: cursor = event.cursor
        }
        return entry
    }
}

extension LoggedEvent {
    /// Returns the current download, with the state that the event reports. If the download no longer exists, returns
    /// a snapshot of what the event contains.
    fileprivate func snapshot(_ client: ControlClient) async -> DownloadSnapshot? {
        let current = kind == .removed ? nil : try? await client.snapshots(.ids([id])).first
        if let current {
            guard let state, current.record.state != state else { return current }
            var record = current.record
            record.state = state
            return DownloadSnapshot(record: record)
        }
        guard case .success(let parsed) = SourceURL.parse(url) else { return nil }
        var record = DownloadRecord(
            id: id, request: DownloadRequest(url: parsed.url, destination: Destination(folder: "/")),
            state: state ?? .cancelled, created: time)
        record.fileName = name
        record.session = session
        record.resume.total = total
        return DownloadSnapshot(record: record)
    }
}
