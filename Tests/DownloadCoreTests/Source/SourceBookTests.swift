import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("SourceBook: which source is asked next", .inTurn, .timeLimit(.minutes(1)))
struct SourceBookTests {
    static let gone = DownloadError.serverRefused(status: 404, phrase: "")
    static let busy = DownloadError.serverRefused(status: 503, phrase: "")
    static let wrong = DownloadError.verificationFailed(
        .checksum(expected: Checksum(algorithm: .md5, digest: ""), actual: ""))

    private static func url(_ text: String) -> SourceURL {
        guard case .success(let parsed) = SourceURL.parse(text) else { preconditionFailure(text) }
        return parsed.url
    }

    private func record(_ mirrors: [String] = ["http://b/", "http://c/"]) -> DownloadRecord {
        var request = DownloadRequest(url: Self.url("http://a/"), destination: Destination(folder: "/d"))
        request.mirrors = mirrors.map(Self.url)
        return DownloadRecord(id: 1, request: request, created: Date())
    }

    @Test("Each source is used once, in order; then those that may succeed later are used again, from the first on")
    func rounds() {
        var record = record()
        #expect(record.source.host == "a")
        #expect(record.turn(after: Self.busy, repeats: true) == .next && record.source.host == "b")
        #expect(record.turn(after: Self.gone, repeats: false) == .next && record.source.host == "c")
        #expect(record.turn(after: Self.busy, repeats: true) == .again && record.source.host == "a")
        #expect(record.turn(after: Self.gone, repeats: false) == .next && record.source.host == "c")
        #expect(record.turn(after: Self.gone, repeats: false) == .over)
        // A resumed download begins the order anew.
        #expect(record.turn(after: Self.gone, repeats: false) == .next)
    }

    @Test("Without mirrors, or if no source is to blame, the source stays the same")
    func others() {
        var single = record([])
        #expect(single.turn(after: Self.busy, repeats: true) == .none && single.resume.sources == nil)
        var several = record()
        #expect(several.turn(after: .fileFailed(.noSpace(needed: nil), path: ""), repeats: false) == .none)
        #expect(several.source.host == "a")
    }

    @Test("A wrong digest blames no source if several sources sent bytes")
    func mixed() {
        var record = record()
        var book = SourceBook()
        book.change("http://a/") { $0.received = 5 }
        book.change("http://b/") { $0.received = 5 }
        record.resume.sources = book
        #expect(record.turn(after: Self.wrong, repeats: false) == .next && record.source.host == "a")
        #expect(record.resume.sources?.standing(of: "http://a/").isOut == false)
        #expect(record.turn(after: Self.wrong, repeats: false) == .next && record.source.host == "b")
    }

    @Test("A wrong digest blames the source that sent all bytes")
    func unmixed() {
        var record = record()
        var book = SourceBook()
        book.change("http://a/") { $0.received = 5 }
        record.resume.sources = book
        #expect(record.turn(after: Self.wrong, repeats: false) == .next && record.source.host == "b")
        #expect(record.resume.sources?.standing(of: "http://a/").isOut == true)
        #expect(record.resume.sources?.isAlone == false)
    }

    @Test("Bytes on disk belong to the source that sent them")
    func joining() {
        var record = record()
        record.resume.written.insert(0..<10)
        #expect(!record.isJoining)
        _ = record.turn(after: Self.busy, repeats: true)
        #expect(record.isJoining)
        record.resume.sources?.owner = "http://b/"
        #expect(!record.isJoining)
        record.resume.written = ByteRanges()
        record.resume.sources?.current = nil
        #expect(!record.isJoining)
    }

    @Test("A file of a Metalink document is requested from its mirrors only")
    func described() {
        var record = record()
        record.request.describedName = "x"
        #expect(record.source.host == "b")
        #expect(record.turn(after: Self.gone, repeats: false) == .next && record.source.host == "c")
        #expect(record.turn(after: Self.gone, repeats: false) == .over)
    }

    @Test("The intersection of two sets has the bytes of both")
    func intersection() {
        let some = ByteRanges([0..<10, 20..<30]), others = ByteRanges([5..<25, 28..<40])
        #expect(some.intersection(others) == ByteRanges([5..<10, 20..<25, 28..<30]))
        #expect(some.intersection(ByteRanges()).isEmpty && ByteRanges().intersection(some).isEmpty)
    }
}
