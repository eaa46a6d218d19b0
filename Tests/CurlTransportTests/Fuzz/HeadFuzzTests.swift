import CTestSupport
import DownloadCore
import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import CurlTransport

/// Header lines as no server should send them, cut at any place.
@Suite("Fuzzing: response heads", .inTurn)
struct HeadFuzzTests {
    static let heads = [
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/10\r\nETag: \"a\"\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/2 200\r\ncontent-length: 5\r\n\r\nTrailer: x\r\n\r\n",
        "HTTP/1.0 302 Found\r\nLocation: /\u{FC}\r\n Folded: line\r\nEmpty:\r\nNo colon\r\n\r\n",
    ]

    private static let answers = [
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nETag: \"a\"\r\nLast-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n\r\nabc",
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-2/9\r\nContent-Length: 3\r\nServer: x\r\n y\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 416 No\r\nContent-Range: bytes */9\r\nContent-Length: 0\r\n\r\n",
    ]

    @Test("Only final heads are reported, at most one, and no field of a head contains a line break")
    func heads() {
        let fuzzing = Fuzzing(
            "Response heads", corpus: Self.heads, words: ["\n x", "HTTP/1.1 ", "\r\n\r\n", ":", "200"])
        fuzzing.run { input in
            var parser = ResponseHeadParser()
            var heads: [ResponseHead] = []
            // libcurl delivers one line at a time, with its line break.
            for line in Self.lines(input) {
                switch line.withUnsafeBytes({ parser.take($0) }) {
                case .incomplete: continue
                case .head(let head): heads.append(head)
                case .tooLarge: return input.count > ResponseHeadParser.sizeLimit ? nil : "too large?"
                }
            }
            if heads.count > 1 { return "\(heads.count) heads" }
            guard let head = heads.first else { return nil }
            let breaks = head.fields.contains { $0.value.utf8.contains { [0, 10, 13].contains($0) } }
            return head.status < 200 ? "status \(head.status)" : breaks ? "a line break in a field" : nil
        }
        fuzzing.runsInLinearTime(after: ["", "HTTP/1.1 200 OK\r\nA: b\r\n"]) { input in
            var parser = ResponseHeadParser()
            for line in Self.lines(input) { _ = line.withUnsafeBytes { parser.take($0) } }
        }
    }

    /// The results of reading one response with the parser and with libcurl.
    private final class Reading {
        var parser = ResponseHeadParser()
        var head: ResponseHead?
        var fields: [(name: String, value: String)] = []
        var lines: [String] = []

        /// Whether libcurl takes a head that is none: without the blank line at its end, with a status line without a
        /// known version or a three-digit status, which counts as 200, or with control characters in a line, which
        /// count as spaces here.
        var isMalformed: Bool {
            let isControl = { (byte: UInt8) in byte < 32 && byte != UInt8(ascii: "\t") }
            if lines.contains(where: { $0.replacing(/\r*\n$/, with: "").utf8.contains(where: isControl) }) {
                return true
            }
            let line = lines.last { $0.hasPrefix("HTTP/") } ?? ""
            return lines.last?.trimmingCharacters(in: .newlines).isEmpty != true
                || line.firstMatch(of: /^HTTP\/(1\.[01]|2|3) +[0-9]{3}(?![^ \r\n])/) == nil
        }
    }

    @Test("libcurl reads the same status, fields and length from a head")
    func besideLibcurl() async throws {
        let fuzzing = Fuzzing(
            "Response heads beside libcurl", corpus: Self.heads + Self.answers,
            words: ["\n x", "HTTP/1.1 ", "\r\n\r\n", ":", "200", "Content-Length: ", ",", "\t"])
        for answer in Self.answers {
            let (theirs, reading) = try Self.read(Array(answer.utf8))
            #expect(theirs.result == 0 && !reading.fields.isEmpty && reading.head != nil, "\(answer)")
        }
        try await fuzzing.run(scale: 5) { try Self.difference($0) }
    }

    private static func read(_ input: [UInt8]) throws -> (dlmtest_head, Reading) {
        let server = try RawServer(.init(input))
        let reading = Reading()
        var sink = dlmtest_head_sink(
            context: Unmanaged.passUnretained(reading).toOpaque(),
            line: { context, bytes, count in
                let reading = Unmanaged<Reading>.fromOpaque(context!).takeUnretainedValue()
                let line = UnsafeRawBufferPointer(start: bytes, count: count)
                reading.lines.append(String(decoding: line, as: UTF8.self))
                if case .head(let head) = reading.parser.take(line) {
                    reading.head = head
                }
            },
            field: { context, name, value in
                let reading = Unmanaged<Reading>.fromOpaque(context!).takeUnretainedValue()
                reading.fields.append((String(cString: name!), String(cString: value!)))
            })
        return (dlmtest_receive_head(server.url, &sink), reading)
    }

    private static func difference(_ input: [UInt8]) throws -> String? {
        let (theirs, reading) = try read(input)
        // A transfer that libcurl ends with an error fails, whatever its head is. Error 18: the body is too short.
        guard theirs.result == 0 || theirs.result == 18 else { return nil }
        if reading.isMalformed { return nil }
        guard let head = reading.head else { return "no head; libcurl has status \(theirs.status)" }
        if head.status != theirs.status { return "status \(head.status); libcurl \(theirs.status)" }
        let ours = head.fields.map { "\($0.name.rawName): \($0.value.replacing("\t", with: " "))" }
        // Names that are no tokens are dropped here (RFC 9110 section 5.1). libcurl keeps the line break of an empty value.
        let expected = reading.fields.compactMap { field in
            // A folded line begins with one space here, whatever its own spaces are.
            HTTPField.Name(field.name).map { name in
                let value = field.value.trimmingCharacters(in: .whitespacesAndNewlines).replacing("\t", with: " ")
                return "\(field.name): \(HTTPField(name: name, value: value).value)"
            }
        }
        // Bytes that are not UTF-8 are Latin-1 here, or percent-encoded in a URL.
        if String(validating: input, as: UTF8.self) == nil {
            return ours.count == expected.count ? nil : "\(ours); libcurl \(expected)"
        }
        if ours != expected { return "\(ours); libcurl \(expected)" }
        // libcurl reads the digits at the beginning of a length, and the last of several lengths. Here both are errors.
        let lengths = head.fields.values(.contentLength)
        if Set(lengths).count > 1 || lengths.contains(where: { !$0.allSatisfy(\.isWholeNumber) }) { return nil }
        let length = ResponseJudge.contentLength(head) ?? -1
        return length == theirs.length ? nil : "length \(length); libcurl \(theirs.length)"
    }

    private static func lines(_ input: [UInt8]) -> [[UInt8]] {
        input.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) + [0x0A] }
    }
}
