import DownloadTestSupport
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// A file is never a mixture of two versions, whatever the server does and whenever the process ends.
@Suite("Changes on the server", .inTurn, .timeLimit(.minutes(2)))
struct NeverMixTests {
    private static let old = Content(seed: 1, size: 1_000_000)
    private static let date = "Tue, 01 Jan 2030 00:00:00 GMT"
    private static let later = "Wed, 02 Jan 2030 00:00:00 GMT"
    private static let now = [(name: "Date", value: "Thu, 03 Jan 2030 00:00:00 GMT")]

    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let before: FaultReply
        let after: FaultReply

        init(_ name: String, _ before: FaultReply, _ after: FaultReply) {
            testDescription = name
            self.before = before.with { $0.fields += NeverMixTests.now }
            self.after = after.with { $0.fields += NeverMixTests.now }
        }
    }

    private static let changes: [Change] = {
        let same = Content(seed: 2, size: old.size)
        let other = Content(seed: 3, size: 800_000)
        let longer = Content(seed: 4, size: 1_500_000)
        let tiny = Content(seed: 5, size: 1000)
        return [other, same, longer, tiny].flatMap { content in
            [
                Change("etag", FaultReply(old, etag: "\"a\""), FaultReply(content, etag: "\"b\"")),
                Change("weak etag", FaultReply(old, etag: "W/\"a\""), FaultReply(content, etag: "W/\"b\"")),
                Change("date", FaultReply(old, lastModified: date), FaultReply(content, lastModified: later)),
                Change("nothing", FaultReply(old), FaultReply(content)),
                Change(
                    "both", FaultReply(old, etag: "\"a\"", lastModified: date),
                    FaultReply(content, etag: "\"b\"", lastModified: later)),
            ]
        }
    }()

    @Test(
        "If a file changed between two sessions, the result is the new version, however If-Range is handled",
        arguments: changes, [FaultReply.RangeBehaviour.honoured, .honouredBlindly, .ignored])
    func change(change: Change, behaviour: FaultReply.RangeBehaviour) async throws {
        let first = try await SessionBench(serving: change.before.with { $0.cut = .stall(after: 600_000) })
        let id = try await first.add()
        #expect(await first.transport.taken.wait { $0 == 600_000 })
        await first.manager.pauseAll(.user)
        await first.manager.close()
        let second = try await SessionBench(
            after: first, session: "second", serving: change.after.with { $0.ranges = behaviour })
        _ = try await second.manager.resume([id], overrides: RequestOverrides())
        let record = try await second.ending(of: id)
        #expect(record.state == .completed, "\(record.state)")
        #expect(try second.holds("file.bin", change.after.content))
        #expect(second.words(id).contains("restart"))
        #expect(await second.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test(
        "If a file changes while several connections fetch it, the result is the new version", arguments: [true, false])
    func changesMeanwhile(isBlind: Bool) async throws {
        let old = Content(seed: 6, size: 60_000_000)
        let new = Content(seed: 7, size: 60_000_000)
        let bench = try await SessionBench { _, asked in
            let reply = asked.number < 4 ? FaultReply(old, etag: "\"a\"") : FaultReply(new, etag: "\"b\"")
            return .reply(reply.with { $0.ranges = isBlind ? .honouredBlindly : .honoured })
        }
        let id = try await bench.add { $0.connections = 3 }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(try bench.holds("file.bin", new))
        #expect(bench.words(id) == ["add", "start 0", "restart", "start 0", "complete"])
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test("A file that changes with every request is given up, and only one version is on disk")
    func restless() async throws {
        let bench = try await SessionBench { _, asked in
            let content = Content(seed: UInt64(asked.number), size: 20_000_000)
            return .reply(
                FaultReply(content, etag: "\"\(asked.number)\"").with { $0.ranges = .honouredBlindly })
        }
        let id = try await bench.add {
            $0.connections = 2
            $0.retry.limit = 0
        }
        let record = try await bench.ending(of: id)
        #expect(record.failure?.reason == "changed", "\(record.state)")
        #expect(bench.folder.names() == ["file.bin.part"])
        let version = try #require(record.resume.validators.etag.flatMap { UInt64($0.opaque) })
        let content = Content(seed: version, size: 20_000_000)
        let file = try PartialFile.open(folder: bench.folder.path, name: "file.bin", mode: .reopen, followsLinks: true)
        #expect(!record.resume.written.isEmpty)
        for range in record.resume.written.ranges { #expect(try file.read(range) == content.bytes(range), "\(range)") }
    }

    @Test("A web page instead of the rest of the file ends the attempt, and the bytes on disk are kept")
    func captivePortal() async throws {
        let reply = FaultReply(Self.old, etag: "\"a\"").with { $0.fields = [("Content-Type", "application/zip")] }
        let first = try await SessionBench(serving: reply.with { $0.cut = .stall(after: 600_000) })
        let id = try await first.add()
        #expect(await first.transport.taken.wait { $0 == 600_000 })
        await first.manager.pauseAll(.user)
        await first.manager.close()
        let second = try await SessionBench(
            after: first, session: "second",
            serving: FaultReply(Content("<html>log in</html>")).with { $0.fields = [("Content-Type", "text/html")] })
        _ = try await second.manager.resume([id], overrides: RequestOverrides())
        let failed = try await second.ending(of: id)
        #expect(
            failed.state == .failed(.verificationFailed(.unexpectedType(was: "application/zip", is: "text/html"))))
        #expect(failed.resume.written == ByteRanges([0..<600_000]))
        await second.manager.close()
        let third = try await SessionBench(after: first, session: "third", serving: reply)
        _ = try await third.manager.resume([id], overrides: RequestOverrides())
        #expect(try await third.ending(of: id).state == .completed)
        #expect(third.ranges == [rest(from: 600_000)])
    }

    @Test("A stop between the head of a new version and its first byte keeps the old bytes")
    func stoppedAtNewVersion() async throws {
        let bench = try AttemptBench()
        let new = Content(seed: 9, size: 1_200_000)
        let record = try await bench.record(
            with: 0..<600_000, of: Self.old, validators: Validators(etag: EntityTag(opaque: "a")))
        let transport = EagerTransport { _ in
            (.whole(new.size, [("ETag", "\"b\"")]), new.bytes(0..<new.size))
        }
        let control = AttemptControl(record: record)
        control.stop()
        let (outcome, after) = await bench.run(record, on: transport, control)
        #expect(outcome == .stopped)
        #expect(after.resume.written == ByteRanges([0..<600_000]))
        #expect(after.resume.validators.etag?.opaque == "a")
        let file = try PartialFile.open(folder: bench.folder.path, name: "file.bin", mode: .reopen, followsLinks: true)
        #expect(try file.read(0..<600_000) == Self.old.bytes(0..<600_000))
        #expect(bench.freeBuffers() == 8)
    }

    @Test("A checkpoint before the overlap check does not give the old bytes the new version's validators")
    func validatorsOfTheBytes() async throws {
        let isSaved = DispatchSemaphore(value: 0)
        let saves = GatedStore(.init(beforeSave: { _ in isSaved.signal() }))
        let bench = try AttemptBench(store: saves)
        // The date was no strong validator. Now the server has an ETag and other bytes.
        let record = try await bench.record(
            with: 0..<600_000, of: Self.old,
            validators: Validators(lastModified: Self.date, lastModifiedIsStrong: false))
        let new = Content(seed: 10, size: Self.old.size)
        let transport = WatchedTransport(
            FakeTransport { _, _ in
                .reply(FaultReply(new, etag: "\"b\"", lastModified: Self.date).with { $0.fields = Self.now })
            })
        // The first piece has only a part of the bytes to compare. No other piece comes before the checkpoint.
        let control = AttemptControl(record: record)
        transport.onTaken.withLock {
            $0 = { number in
                if number > 1 { return }
                control.send(.flushed)
                _ = isSaved.wait(timeout: .now() + 30)
            }
        }
        let (outcome, after) = await bench.run(record, on: transport, control)
        #expect(outcome == .completed)
        #expect(after.completed?.validators.etag?.opaque == "b")
        #expect(try sha256(of: bench.folder("file.bin")) == new.sha256)
        let checkpoint = try #require(saves.records.first)
        #expect(checkpoint.resume.written == ByteRanges([0..<600_000]))
        #expect(checkpoint.resume.validators.etag == nil)
        let later = saves.records.filter { $0.resume.validators.etag != nil }
        #expect(!later.isEmpty)
        #expect(later.allSatisfy { !$0.resume.written.contains(0..<600_000) || $0.received == new.size })
        #expect(bench.events.value.map(\.word) == ["restart", "start 600000", "restart", "start 0"])
    }

    @Test("A stop takes effect while a changed file is started over")
    func stopWhileStartingOver() async throws {
        let bench = try AttemptBench()
        let record = try await bench.record { $0.connections = 3 }
        let old = Content(seed: 11, size: 60_000_000)
        let control = AttemptControl(record: record)
        let transport = WatchedTransport(
            FakeTransport { _, asked in
                switch asked.number {
                case 1: .reply(FaultReply(old, etag: "\"a\""))
                case 2, 3: .reply(FaultReply(old, etag: "\"a\"").with { $0.cut = .stall(after: 100_000) })
                default: .reply(FaultReply(Content(seed: 12, size: 100), etag: "\"b\"").with { $0.ranges = .refused })
                }
            })
        // A stalled transfer is cancelled when another transfer has seen the change, or earlier by the planner.
        transport.onCancel.withLock {
            $0 = { [weak transport] in if transport?.requests.count ?? 0 >= 4 { control.stop() } }
        }
        let (outcome, _) = await bench.run(record, on: transport, control)
        #expect(outcome == .stopped)
        #expect(transport.requests.count <= 5)
        #expect(bench.freeBuffers() == 8)
    }

    @Test("The record forgets the old bytes before the file does; if the store fails, both keep them")
    func forgetsFirst() async throws {
        let store = GatedStore(
            .init(beforeSave: { records in
                if records.contains(where: { $0.resume.written.isEmpty }) { throw DownloadError.unexpected("full") }
            }))
        let bench = try AttemptBench(store: store)
        let validators = Validators(etag: EntityTag(opaque: "a"))
        let record = try await bench.record(with: 0..<600_000, of: Self.old, validators: validators)
        let new = FaultReply(Content(seed: 13, size: Self.old.size), etag: "\"b\"")
        let (outcome, after) = await bench.run(record, on: FakeTransport(serving: new))
        #expect(outcome == .failed(.unexpected("full"), retryAfter: nil))
        #expect(after.resume.written == ByteRanges([0..<600_000]))
        #expect(after.resume.validators == validators)
        let file = try PartialFile.open(folder: bench.folder.path, name: "file.bin", mode: .reopen, followsLinks: true)
        #expect(try file.read(0..<600_000) == Self.old.bytes(0..<600_000))
        #expect(bench.freeBuffers() == 8)
    }

    @Test(
        "If a redirect target has expired, the original URL is requested again; fetched bytes are kept if unchanged",
        arguments: [true, false])
    func staleLocation(hasChanged: Bool) async throws {
        let old = FaultReply(Content(seed: 14, size: 40_000_000), etag: "\"a\"")
        let new = FaultReply(Content(seed: 15, size: 40_000_000), etag: "\"b\"")
        let bench = try await SessionBench { request, asked in
            guard request.url.path == "/signed" else { return .reply(.redirect(to: "/signed")) }
            // The probe fetches its bytes; then the signature has expired. After another redirect it is valid again.
            switch asked.number {
            case 2: return .reply(old)
            case 3, 4: return .reply(FaultReply(status: 403))
            default: return .reply(hasChanged ? new : old)
            }
        }
        let id = try await bench.add { $0.connections = 3 }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(try bench.holds("signed", hasChanged ? new.content : old.content))
        #expect(bench.words(id).contains("restart") == hasChanged)
        if !hasChanged { #expect(bench.transport.taken.value <= old.content.size + old.content.size / 20) }
    }
}
