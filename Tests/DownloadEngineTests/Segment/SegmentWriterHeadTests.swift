import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// What a response head makes a writer do.
@Suite("SegmentWriter: heads", .inTurn)
struct SegmentWriterHeadTests {
    private static let etag = [(name: "ETag", value: "\"a\"")]
    private static let version = ResponseJudge.Version(
        validators: Validators(etag: EntityTag(opaque: "a")), total: 1000, contentType: nil)

    @Test(
        "The first transfer accepts bodies, discards error pages, and refuses other heads",
        arguments: [
            (.part(100..<1000, of: 1000, etag), .accept, nil),
            (.whole(1000, etag), .accept, nil),
            (.whole(900, [("ETag", "\"b\"")]), .accept, nil),
            (.part(100..<900, of: 900, [("ETag", "\"b\"")]), .refuse, .verdict),
            (.part(90..<1000, of: 1000, etag), .accept, nil),
            (.part(110..<1000, of: 1000, etag), .refuse, .verdict),
            (.of(404), .discard, nil), (.of(401), .discard, nil), (.of(503), .discard, nil),
            (.of(302), .refuse, .verdict),
            (.of(416, [("Content-Range", "bytes */50")]), .refuse, .verdict),
        ] as [(ResponseHead, HeadDisposition, EndedTransfer.Refusal?)])
    func scout(head: ResponseHead, disposition: HeadDisposition, refusal: EndedTransfer.Refusal?) throws {
        let bench = try WriterBench()
        let writer = bench.writer(100..<1000, known: Self.version)
        #expect(writer.transferDidReceiveHead(head) == disposition)
        #expect(writer.refusal == refusal)
        #expect(writer.head == head)
        #expect(writer.verdict == writer.judge.judge(head))
    }

    @Test("An answer begins with the first byte of its body, and is reported once")
    func firstByte() throws {
        let bench = try WriterBench()
        let writer = bench.writer(100..<1000, known: Self.version)
        #expect(writer.transferDidReceiveHead(.part(100..<1000, of: 1000, Self.etag)) == .accept)
        #expect(writer.takeAnswer() == nil)
        for isFirst in [true, false] {
            [1, 2, 3].withUnsafeBytes { #expect(writer.transferDidReceive($0) == .taken) }
            #expect((writer.takeAnswer() != nil) == isFirst)
        }
        writer.discard()
    }

    @Test("The page of a redirect is discarded")
    func redirect() throws {
        let bench = try WriterBench()
        let writer = bench.writer()
        var head = ResponseHead.of(302)
        head.redirectURL = "http://example.org/other"
        #expect(writer.transferDidReceiveHead(head) == .discard)
    }

    @Test("A later connection accepts only its own range, and refuses the whole file of any version")
    func laterConnection() throws {
        let bench = try WriterBench()
        let file = try bench.file()
        for head in [ResponseHead.whole(1000, Self.etag), .whole(900, [("ETag", "\"b\"")])] {
            let writer = bench.writer(100..<1000, file: file, known: Self.version)
            #expect(writer.transferDidReceiveHead(head) == .refuse)
            #expect(writer.refusal == .verdict)
        }
    }

    @Test("If the server sends the whole file instead of the rest, it is written from its first byte")
    func wholeInsteadOfRest() async throws {
        let bench = try WriterBench()
        let content = Content(seed: 1, size: 1000)
        let writer = bench.writer(100..<1000, countedFrom: 103, known: Self.version)
        #expect(writer.transferDidReceiveHead(.whole(1000, Self.etag)) == .accept)
        #expect(writer.position == 0)
        #expect(writer.unfinished == 0..<1000)
        #expect(writer.deliver(content.bytes(0..<1000), pieces: [128]).answer == .taken)
        let file = try bench.file()
        writer.attach(file)
        writer.finish()
        await bench.drain()
        #expect(try bench.bytes(0..<1000, of: file) == content.bytes(0..<1000))
    }

    @Test(
        "A writer asks for its file once: at the head of a large file, at a checkpoint, or with its first full buffer")
    func announcement() async throws {
        let bench = try WriterBench()
        var messages = bench.control.messages.makeAsyncIterator()
        func announced() async -> SegmentWriter? {
            bench.control.tick()
            if case .segmentNeedsFile(let writer)? = await messages.next() {
                _ = await messages.next()
                return writer
            }
            return nil
        }
        let large = bench.writer()
        _ = large.transferDidReceiveHead(.whole(WriterBench.bufferSize + 1))
        #expect(await announced() === large)
        large.flush()
        _ = large.deliver([1])
        large.flush()
        #expect(await announced() == nil)

        let small = bench.writer()
        _ = small.transferDidReceiveHead(.whole(WriterBench.bufferSize))
        #expect(await announced() == nil)
        small.flush()
        #expect(await announced() == nil)
        _ = small.deliver([1])
        small.flush()
        #expect(await announced() === small)

        let endless = bench.writer()
        _ = endless.transferDidReceiveHead(.of(200))
        #expect(endless.deliver([UInt8](repeating: 1, count: 300_000)).answer == .pause)
        #expect(await announced() === endless)
    }
}
