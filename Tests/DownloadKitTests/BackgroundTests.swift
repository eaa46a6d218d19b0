import DownloadKit
import DownloadTestSupport
import Foundation
import Testing

@Suite("The library: background sessions", .inTurn, .serialized, .timeLimit(.minutes(2)))
struct BackgroundTests {
    private let content = Content(seed: 51, size: mebibyte)
    private let background = SessionConfiguration.background(identifier: "org.example.background")

    /// Runs `body` with the configuration of a session that runs in a process of its own.
    private func withHost(_ library: Library, _ body: (SessionConfiguration) async throws -> Void) async throws {
        var configuration = library.configuration(background)
        configuration.host = BackgroundHost(
            executable: try ExampleProgram.path("ExampleBackground"), arguments: ["host"])
        // The host program finds its state folder as every program does.
        configuration.stateFolder = library.root("xdg/dlm")
        configuration.host?.environment = ["XDG_STATE_HOME": library.root("xdg")]
        try await body(configuration)
        let last = try await DownloadSession(configuration: configuration)
        try await last.invalidateAndCancel()
    }

    @Test("Downloads go on after the app's process has ended, and are found by identifier; none begins twice")
    func reconnecting() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            try await withHost(library) { configuration in
                let first = try await DownloadSession(configuration: configuration)
                let id = try await first.download(library.request(), to: .folder(library.files)).id
                await first.close()
                #expect(await library.server.waitUntil { $0.bytesSent >= mebibyte / 2 })
                let second = try await DownloadSession(configuration: configuration)
                let tasks = try await second.tasks
                #expect(tasks.map(\.id) == [id])
                let task = try #require(tasks.first)
                #expect(await task.waitForBytes(mebibyte / 2))
                let same = try await second.download(library.request(), to: .folder(library.files))
                #expect(same.id == id)
                library.server.releaseEnds()
                #expect(try await task.value.byteCount == content.size)
                #expect(try library.holds(content))
                await second.close()
            }
        }
    }

    @Test("urlSessionDidFinishEvents: the events that nobody saw come first, then didFinishEvents")
    func finishedEvents() async throws {
        try await withLibrary(serving: content) { library in
            let first = try await library.session(background)
            var cursor: EventCursor?
            _ = try await first.download(library.request("/a"), to: .folder(library.files)).value
            for try await entry in try await first.events(since: nil) {
                if case .event(let event) = entry { cursor = event.cursor }
                if case .didFinishEvents = entry { break }
            }
            _ = try await first.download(library.request("/b"), to: .folder(library.files)).value
            let last: EventCursor = try #require(cursor)
            await first.close()
            let second = try await library.session(background)
            var seen: [String] = []
            for try await entry in try await second.events(since: last) {
                if case .event(let event) = entry { seen.append("\(event.name) \(event.kind.rawValue)") }
                if case .didFinishEvents = entry { break }
            }
            #expect(seen == ["b added", "b started", "b completed"])
            await second.close()
        }
    }

    @Test(
        "The downloads of a background session without a host program go on in the next process that opens the session")
    func nextProcess() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let first = try await library.session(background)
            let task = try await first.download(library.request(), to: .folder(library.files))
            #expect(await task.waitForBytes(mebibyte / 2))
            await first.close()
            library.server.releaseEnds()
            let second = try await library.session(background)
            #expect(try await second.task(task.id).value.byteCount == content.size)
            #expect(try library.holds(content))
            await second.close()
        }
    }

    @Test("An identifier that is not a usable file name is refused", arguments: ["", "a/b", ".hidden", "foreground-1"])
    func identifiers(_ identifier: String) async throws {
        try await withLibrary(serving: content) { library in
            await #expect(throws: DownloadError.sessionUnavailable(.unusableIdentifier(identifier))) {
                try await library.session(.background(identifier: identifier))
            }
        }
    }

    @Test("A host program that does not run the session is reported")
    func badHost() async throws {
        try await withLibrary(serving: content) { library in
            var configuration = library.configuration(background)
            configuration.host = BackgroundHost(executable: "/bin/false")
            await #expect(
                throws: DownloadError.sessionUnavailable(.startFailed(message: "/bin/false ended with status 1"))
            ) {
                try await DownloadSession(configuration: configuration)
            }
        }
    }
}
