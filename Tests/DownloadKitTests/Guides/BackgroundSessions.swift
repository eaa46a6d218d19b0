import DownloadKit
import Foundation

/// The code of BackgroundSessions.md, compiled. A test compares the two.
private enum BackgroundSessions {
    static func open(arguments: [String]) async throws {
        var configuration = SessionConfiguration.background(identifier: "org.example.app")
        if arguments == ["host"] {
            return try await DownloadSession.runBackground(configuration)
        }
        configuration.host = .thisExecutable(arguments: ["host"])
        let session = try await DownloadSession(configuration: configuration)
        print(session.identifier)
    }

    static func find(session: DownloadSession) async throws {
        for task in try await session.tasks {
            print(task.id, try await task.state)
        }
    }

    static func events(session: DownloadSession, lastCursor: EventCursor) async throws {
        for try await entry in try await session.events(since: lastCursor) {
            switch entry {
            case .event(let event): print(event.id, event.kind, event.cursor)
            case .didFinishEvents: print("nothing more has happened so far")
            case .didLoseEvents: print("the log begins later")
            }
        }
    }

    static func leave(session: DownloadSession) async throws {
        await session.close()
    }

    static func end(session: DownloadSession) async throws {
        try await session.finishAndInvalidate()
    }
}
