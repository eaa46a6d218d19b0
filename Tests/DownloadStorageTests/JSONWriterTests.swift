import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadStorage

@Suite("JSONWriter: the JSON in the columns of rows", .inTurn)
struct JSONWriterTests {
    @Test("What a row has as JSON is read back as the same value", arguments: [0, 20, 50, 80, 100])
    func sameValue(sparsity: Int) throws {
        for seed in 0..<200 {
            let carried = Carried(sparsity: sparsity, seed: UInt64(seed))
            try expectSame(carried.resume)
            try expectSame(carried.completed)
            try expectSame((0..<seed % 4).map { Carried(sparsity: sparsity, seed: UInt64(seed + $0)).attempt })
            guard let metrics = carried.attempt.metrics else { continue }
            let text = JSONWriter.text { $0.array(metrics.writeElements) }
            #expect(try JSONText.decode(StoredMetrics.self, text).metrics == metrics)
        }
    }

    private func expectSame<Value: Codable & Equatable>(_ value: Value) throws {
        #expect(try JSONText.decode(Value.self, JSONText.encode(value)) == value)
    }

    @Test("Numbers that JSON lacks are written as words")
    func numbers() {
        let numbers = [0, -0.0, 1.5, -1e300, .leastNonzeroMagnitude, .infinity, -.infinity, .nan]
        #expect(
            JSONWriter.text { $0.array(numbers) { $0.value($1) } }
                == #"[0.0,-0.0,1.5,-1e+300,5e-324,"inf","-inf","nan"]"#)
        #expect(JSONWriter.text { $0.array([UInt64.max, 0]) { $0.value($1) } } == "[18446744073709551615,0]")
        #expect(
            JSONWriter.text { $0.array([Int64.min, -1, 10, .max]) { $0.value($1) } }
                == "[-9223372036854775808,-1,10,9223372036854775807]")
    }

    @Test("Numbers of whole microseconds have the text of the standard library")
    func microseconds() {
        var random = SplitMix64(seed: 1)
        let some = (0..<20_000).map { _ in
            Double(Int64.random(in: 0...(1 << Int64.random(in: 0...60, using: &random)), using: &random)) / 1e6
        }
        for number in [1e-4, 0.000123, 0.001, 0.1, 1, 12.5, 1e7, 99_999_999.999999, 1e8] + some {
            for number in [number, number.nextUp, number.nextDown] {
                #expect(JSONWriter.text { $0.value(number) } == "\(number)")
            }
        }
    }

    @Test("The row of a record leaves empty columns out, and keeps the last twenty attempts")
    func row() throws {
        let blank = DownloadRecord(id: 1, request: try Sample.request(), created: Date())
        let row = try DownloadRow(blank, coder: RequestCoder())
        #expect([row.stateDetail, row.resume, row.attempts, row.completed] == [nil, nil, nil, nil])
        var record = try Sample.filled(blank)
        record.attempts = (0..<30).map { AttemptRecord(started: Date(timeIntervalSince1970: Double($0))) }
        let kept = try #require(try DownloadRow(record, coder: RequestCoder()).attempts)
        #expect(try JSONText.decode([AttemptRecord].self, kept) == Array(record.attempts.suffix(20)))
    }
}

/// Random values for one row.
struct Carried {
    var resume = ResumeData()
    var attempt: AttemptRecord
    var completed: CompletedFile

    /// - Parameter sparsity: The probability, in percent, that an optional field is missing, or that a field with a
    ///   default value keeps this value.
    init(sparsity: Int, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func maybe<Value>(_ value: (inout SplitMix64) -> Value) -> Value? {
            Int.random(in: 0..<100, using: &random) < sparsity ? nil : value(&random)
        }
        attempt = AttemptRecord(started: Self.date(&random))
        completed = CompletedFile(
            path: Self.text(&random), bytes: .random(in: 0...(.max), using: &random),
            identity: FileIdentity(inode: .random(in: 0...(.max), using: &random), born: maybe(Self.number)),
            modified: Self.number(&random), validators: Validators())
        completed.validators = maybe(Self.validators) ?? Validators()
        completed.checksum = maybe(Self.checksum)
        completed.verifiedBy = maybe { _ in .server }
        completed.mismatched = maybe(Self.checksum)
        completed.wasCurrent = maybe { _ in true } ?? false
        resume.validators = maybe(Self.validators) ?? Validators()
        resume.total = maybe(Self.number)
        resume.finalURL = maybe(Self.url).flatMap(\.self)
        resume.contentType = maybe(Self.text)
        resume.contentEncoding = maybe(Self.text)
        resume.acceptsRanges = maybe { _ in true } ?? false
        resume.written = maybe(Self.ranges) ?? ByteRanges()
        resume.durable = maybe(Self.ranges) ?? ByteRanges()
        resume.file = maybe { FileIdentity(inode: .random(in: 0...(.max), using: &$0), born: Self.number(&$0)) }
        resume.modified = maybe(Self.number)
        resume.device = maybe { .random(in: 0...(.max), using: &$0) }
        resume.bootID = maybe(Self.text)
        resume.mismatched = maybe(Self.checksum)
        resume.digest = maybe(Self.checksum)
        resume.verified = maybe { VerifiedChecksum(Self.checksum(&$0), by: .server) }
        resume.servedName = maybe(Self.text)
        resume.movedFrom = maybe(Self.url).flatMap(\.self)
        var standing = SourceStanding(url: Self.text(&random))
        standing.received = Self.number(&random)
        standing.failure = maybe(Self.text)
        standing.isOut = Bool.random(using: &random)
        var book = SourceBook()
        book.current = maybe(Self.text)
        book.owner = maybe(Self.text)
        book.standings = [standing]
        book.isAlone = true
        book.isInnocent = true
        book.documentFailure = maybe(Self.text)
        resume.sources = maybe { _ in book }
        attempt.ended = maybe(Self.date)
        attempt.received = maybe(Self.number) ?? 0
        attempt.connectionReason = maybe { _ in "the server refused 5" }
        attempt.connections = maybe { .random(in: 2...64, using: &$0) } ?? 1
        attempt.redirects = maybe { .random(in: 1...20, using: &$0) } ?? 0
        attempt.metrics = maybe { Self.metrics(&$0, isFull: sparsity == 0) }
        attempt.otherAddresses = maybe { [Self.text(&$0)] }
        attempt.outcome = maybe(Self.text)
    }

    /// The resume data with values that a small file can have. No field of an answer contains NUL (RFC 9110 section 5.5),
    /// and SQLite's integers have 63 bits and a sign.
    var whole: ResumeData {
        func withoutNUL(_ text: String?) -> String? { text.map { String($0.unicodeScalars.filter { $0 != "\0" }) } }
        var whole = resume
        whole.validators.etag = resume.validators.etag.flatMap { etag in
            withoutNUL(etag.opaque).map { EntityTag(opaque: $0, isWeak: etag.isWeak) }
        }
        whole.validators.lastModified = withoutNUL(resume.validators.lastModified)
        whole.contentType = withoutNUL(resume.contentType)
        whole.file = resume.file.map { FileIdentity(inode: $0.inode & .init(Int64.max), born: $0.born) }
        return whole
    }

    private static func metrics(_ random: inout SplitMix64, isFull: Bool) -> TransferMetrics {
        var metrics = TransferMetrics()
        if isFull || Bool.random(using: &random) {
            metrics.remoteAddress = text(&random)
            metrics.remotePort = .random(in: 1...65535, using: &random)
            metrics.httpVersion = "1.1"
            metrics.status = 206
            metrics.reusedConnection = true
        }
        metrics.nameLookup = duration(&random)
        metrics.connect = duration(&random)
        metrics.tls = duration(&random)
        metrics.firstByte = duration(&random)
        metrics.total = duration(&random)
        metrics.received = number(&random)
        return metrics
    }

    private static func validators(_ random: inout SplitMix64) -> Validators {
        Validators(
            etag: EntityTag(opaque: text(&random), isWeak: .random(using: &random)), lastModified: text(&random),
            lastModifiedIsStrong: true)
    }

    private static func checksum(_ random: inout SplitMix64) -> Checksum {
        let algorithm = Checksum.Algorithm.allCases.dropFirst().randomElement(using: &random) ?? .sha256
        return Checksum(algorithm: algorithm, digest: text(&random))
    }

    private static func ranges(_ random: inout SplitMix64) -> ByteRanges {
        ByteRanges(
            (0..<Int.random(in: 1...4, using: &random)).map { _ in
                let start = Int64.random(in: 0..<1_000_000, using: &random)
                return start..<start + .random(in: 1..<1000, using: &random)
            })
    }

    private static let urls = ["https://example.org:81/a%20b/?q=1#x", "http://h/", "gopher://no"].compactMap { text in
        try? SourceURL.parse(text).get().url
    }

    private static func url(_ random: inout SplitMix64) -> SourceURL? { urls.randomElement(using: &random) }

    private static func number(_ random: inout SplitMix64) -> Int64 {
        [.min, -1, 7, .max, .random(in: 1...(.max), using: &random)].randomElement(using: &random) ?? 1
    }

    private static func duration(_ random: inout SplitMix64) -> Double {
        [1e-9, 0.000_231, 12, .infinity, .random(in: 1e-6..<9, using: &random)].randomElement(using: &random) ?? 1
    }

    private static func date(_ random: inout SplitMix64) -> Date {
        Date(timeIntervalSince1970: .random(in: 1...4e9, using: &random))
    }

    /// Returns a text that is never empty.
    private static func text(_ random: inout SplitMix64) -> String {
        let pieces = [
            "a", "plain", "\"", "\\", "\n", "\u{0}", "\u{1f}", "\u{7f}", "é", "日本", "\u{2028}", "🇯🇵", "/", "\r\n",
        ]
        let count = Int.random(in: 1...6, using: &random)
        return (0..<count).map { _ in pieces.randomElement(using: &random) ?? "a" }.joined()
    }
}
