import DownloadTestSupport
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Files that several connections fetch from FTP and SSH servers, whose answers get the form of HTTP answers. The last
/// test copies a local file under a rate limit.
@Suite("Parts of files from FTP and SSH servers", .inTurn, .timeLimit(.minutes(1)))
struct FileServerPartsTests {
    static let content = Content(seed: 31, size: 24 << 20)
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    /// Returns an answer as ``RemoteFile`` makes it.
    static func reply(
        _ request: TransferRequest, _ content: Content = content, date: String? = date, brings: Int64 = .max,
        ending: TransferResult.Ending? = .complete
    ) -> FakeTransport.Exchange {
        let parts = (request.range ?? "0-").split(separator: "-").compactMap { Int64($0) }
        let end = parts.count > 1 ? parts[1] + 1 : content.size
        let range = parts[0]..<end
        var head = ResponseHead(status: 206, httpVersion: "")
        head.fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.size)"
        head.fields[.lastModified] = date
        let last = brings < Int64(range.count) ? range.lowerBound + brings : end
        let body = stride(from: range.lowerBound, to: last, by: 1 << 16).map { begin in
            content.bytes(begin..<min(begin + 1 << 16, last))
        }
        return .scripted(head, body: body, ending: ending)
    }

    private func request(_ bench: SessionBench, connections: Int) throws -> DownloadRequest {
        let url = try SourceURL.parse("ftp://example.org/file.bin").get().url
        return try bench.request {
            $0.url = url
            $0.connections = .init(number: connections, limit: nil)
        }
    }

    private func add(_ bench: SessionBench, connections: Int) async throws -> DownloadID {
        let request = try request(bench, connections: connections)
        return try #require(try await bench.manager.add([request]).first).record.id
    }

    /// Holds all bytes back after 1 MiB until `connections` requests have arrived. Otherwise the first connection could
    /// fetch the whole file before the attempt opens another.
    private final class Turnstile: Sendable {
        private let isOpen = DispatchSemaphore(value: 0)
        private let connections: Int

        init(connections: Int = 2) { self.connections = connections }

        func watch(_ bench: SessionBench) {
            bench.transport.onTaken.withLock { [isOpen] in
                $0 = { number in
                    if number < 16 { return }
                    _ = isOpen.wait(timeout: .now() + 30)
                    isOpen.signal()
                }
            }
        }

        func isAsked(_ request: FaultRequest) { if request.number == connections { isOpen.signal() } }
    }

    private static let full = FakeTransport.Exchange.failure(.authenticationFailed(status: 530))

    @Test(
        "A file has as many connections as are requested, and each ends where the next one began",
        arguments: [0, 1, 4])
    func several(connections: Int) async throws {
        let turnstile = Turnstile(connections: connections)
        let bench = try await SessionBench { request, asked in
            turnstile.isAsked(asked)
            return Self.reply(request)
        }
        if connections > 1 { turnstile.watch(bench) }
        let id = try await add(bench, connections: connections)
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed)
        #expect(try bench.holds("file.bin", Self.content))
        #expect(bench.ranges.first == "0-")
        #expect(bench.transport.mostAtOnce == max(1, connections))
        if connections <= 1 { #expect(bench.ranges == ["0-"]) }
        // A connection takes at most one buffer beyond the place where the next connection began. But
        // `taken` counts only the buffers (64 KiB) that a connection needs as a whole.
        let joins = Int64(bench.ranges.count - 1)
        let more = bench.transport.taken.value - Self.content.size
        #expect((-joins * (64 << 10)...joins * (256 << 10)).contains(more), "\(more) bytes more, \(bench.ranges)")
    }

    @Test("A file without a modification time has one connection, because its parts could be of different versions")
    func withoutTime() async throws {
        let bench = try await SessionBench { request, _ in Self.reply(request, date: nil) }
        let id = try await add(bench, connections: 4)
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.ranges == ["0-"])
    }

    @Test("A file changed within the last minute has one connection, because its time may not show the next change")
    func justChanged() async throws {
        let now = HTTPDate.format(Date())
        let bench = try await SessionBench { request, _ in Self.reply(request, date: now) }
        let id = try await add(bench, connections: 4)
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.ranges == ["0-"])
    }

    @Test("A part with another time or size starts the download over", arguments: [true, false])
    func changed(hasTime: Bool) async throws {
        let new = Content(seed: 32, size: hasTime ? Self.content.size : Self.content.size + 1)
        let later = hasTime ? "Sun, 06 Nov 1994 08:49:38 GMT" : Self.date
        let turnstile = Turnstile()
        let bench = try await SessionBench { request, asked in
            turnstile.isAsked(asked)
            return asked.number == 1 ? Self.reply(request) : Self.reply(request, new, date: later)
        }
        turnstile.watch(bench)
        let id = try await add(bench, connections: 4)
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.words(id).contains("restart"), "\(bench.words(id))")
        #expect(try bench.holds("file.bin", new))
    }

    @Test("Connections that the server refuses are left out, whatever the error")
    func refused() async throws {
        let lost = DownloadError.networkFailed(.connectionLost, TransportDiagnosis(code: 2, message: "no banner"))
        let bench = try await SessionBench { request, asked in
            switch asked.number {
            case 2: Self.full
            case 3, 4: .failure(lost)
            default: Self.reply(request)
            }
        }
        let id = try await add(bench, connections: 4)
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed)
        #expect(record.attempts.count == 1)
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test("If the server refuses the only connection, dlm repeats the request, and does not count a retry")
    func onlyOne() async throws {
        let first = try await SessionBench { request, _ in Self.reply(request, brings: 1 << 20, ending: nil) }
        let id = try await add(first, connections: 2)
        #expect(await first.transport.taken.wait { $0 == 2 << 20 })
        await first.manager.pauseAll(.user)
        #expect(try await first.record(id).resume.written.ranges.count == 2)
        await first.manager.close()

        let second = try await SessionBench(after: first, session: "second") { request, asked in
            asked.number == 2 ? Self.full : Self.reply(request)
        }
        var overrides = RequestOverrides()
        overrides.connections = 1
        _ = try await second.manager.resume([id], overrides: overrides)
        let record = try await second.ending(of: id)
        #expect(record.state == .completed)
        #expect(second.ranges.count == 3 && second.ranges[1] == second.ranges[2], "\(second.ranges)")
        #expect(!second.words(id).contains("retry"), "\(second.words(id))")
        #expect(try second.holds("file.bin", Self.content))
    }

    @Test("A server that cannot seek sends the whole file, and the bytes on disk are compared")
    func unseekable() async throws {
        let bench = try await SessionBench { request, _ in
            if request.range == "0-" { return Self.reply(request) }
            var whole = request
            whole.range = "0-"
            guard case .scripted(var head, let body, let ending) = Self.reply(whole) else { return Self.full }
            head.status = 200
            head.fields[.contentRange] = nil
            head.fields[.contentLength] = "\(Self.content.size)"
            return .scripted(head, body: body, ending: ending)
        }
        let id = try await add(bench, connections: 4)
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed, "\(bench.words(id)) \(bench.ranges)")
        #expect(record.attempts.count == 1)
        #expect(try bench.holds("file.bin", Self.content))
    }

    // MARK: Copies

    @Test("A copy asks the session's limits and its own limits for every byte, and waits if they allow none")
    func paced() async throws {
        let pace = Pace()
        let bench = try await SessionBench(pace: pace) { _, _ in .failure(.unexpected("no transfer is wanted")) }
        let content = Content(seed: 33, size: 100_000)
        try content.write(to: bench.folder("source"))
        var request = try bench.request()
        request.url = try SourceURL.parse("file://\(bench.folder("source"))").get().url
        request.destination.fileName = "copy"
        request.rateLimit = 1 << 20
        let id = try #require(try await bench.manager.add([request]).first).record.id
        #expect(await pace.refusals.wait { $0 >= 3 })
        #expect(pace.given.value == 40_000)
        #expect(!bench.folder.names().contains("copy"))
        pace.allowed.update { $0 = .max }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(pace.given.value == content.size)
        #expect(try bench.holds("copy", content))
        #expect(pace.limits.value.last?.map(\.bytesPerSecond) == [nil, 1 << 20])
    }
}

/// Allows a number of bytes in all, and records the requests.
final class Pace: RateAllowance {
    let allowed = Observed<Int64>(40_000)
    let given = Observed<Int64>(0)
    let refusals = Observed(0)
    let limits = Observed<[[RateLimit]]>([])

    func take(_ count: Int) -> Int {
        let part = Int(max(0, min(Int64(count), allowed.value - given.value)))
        given.update { $0 += Int64(part) }
        if part == 0 { refusals.update { $0 += 1 } }
        return part
    }

    func giveBack(_ count: Int) { given.update { $0 -= Int64(count) } }
}
