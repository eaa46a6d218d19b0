import DownloadCore
import HTTPTypes
import DownloadTestSupport
import Testing

@testable import CurlTransport

@Suite("ResponseHeadParser: header lines, one by one", .inTurn)
struct ResponseHeadParserTests {
    private func parse(_ lines: [String]) -> (heads: [ResponseHead], isTooLarge: Bool) {
        parse(lines.map { Array($0.utf8) })
    }

    private func parse(
        _ lines: [[UInt8]], after last: LastHead = LastHead()
    ) -> (heads: [ResponseHead], isTooLarge: Bool) {
        var parser = ResponseHeadParser(after: last)
        var heads: [ResponseHead] = []
        for line in lines {
            switch line.withUnsafeBytes({ parser.take($0) }) {
            case .incomplete: continue
            case .head(let head): heads.append(head)
            case .tooLarge: return (heads, true)
            }
        }
        return (heads, false)
    }

    @Test(
        "The status line is read as status and phrase",
        arguments: [
            ("HTTP/1.1 200 OK\r\n", 200, "OK"), ("HTTP/1.0 404 Not Found\r\n", 404, "Not Found"),
            ("HTTP/2 206 \r\n", 206, ""), ("HTTP/2 206\r\n", 206, ""),
            ("HTTP/1.1 302 Moved  Twice\n", 302, "Moved  Twice"),
        ])
    func statusLine(line: String, status: Int, phrase: String) throws {
        let head = try #require(parse([line, "\r\n"]).heads.first)
        #expect(head.status == status)
        #expect(head.phrase == phrase)
    }

    @Test(
        "A field's name may have capital or small letters, and white space around its value is removed",
        arguments: [
            ("ETag: \"a\"\r\n", "\"a\""), ("etag:\"a\"\n", "\"a\""), ("ETAG: \t \"a\" \t\r\n", "\"a\""),
            ("ETag:\r\n", ""),
            ("ETag: a: b\r\n", "a: b"),
        ])
    func field(line: String, value: String) throws {
        let head = try #require(parse(["HTTP/1.1 200 OK\r\n", line, "\r\n"]).heads.first)
        #expect(head.fields[.eTag] == value)
        #expect(head.fields.count == 1)
    }

    @Test(
        "In a URL that is not UTF-8, the host is read as Latin-1, and the other bytes are percent-encoded",
        arguments: [
            ("Location: ../\u{E5}\u{E4}\u{F6}.html", "../%E5%E4%F6.html"), ("location: /\u{FF}?\u{80}", "/%FF?%80"),
            ("Link: </\u{E5}>; rel=duplicate", "</%E5>; rel=duplicate"), ("Location: /a%20b", "/a%20b"),
            ("Location: http://b\u{FC}cher.example/\u{FC}", "http://b\u{FC}cher.example/%FC"),
            ("Location: //b\u{FC}cher.example?\u{FC}", "//b\u{FC}cher.example?%FC"),
            ("Location: http://\u{FC}", "http://\u{FC}"), ("Location: a/b//\u{FC}", "a/b//%FC"),
        ])
    func latin1URL(line: String, value: String) throws {
        let bytes = line.unicodeScalars.map { UInt8($0.value) } + [13, 10]
        let head = try #require(parse([Array("HTTP/1.1 302 Found\r\n".utf8), bytes, [13, 10]]).heads.first)
        #expect(head.fields.first?.value == value)
    }

    @Test("A URL in UTF-8 stays as it is")
    func utf8URL() throws {
        let head = try #require(parse(["HTTP/1.1 302 Found\r\n", "Location: /\u{E5}\r\n", "\r\n"]).heads.first)
        #expect(head.fields[.location] == "/\u{E5}")
    }

    @Test("Thousands of folded lines make one field")
    func manyFolds() throws {
        let lines = ["HTTP/1.1 200 OK\r\n", "A: b\r\n"] + Array(repeating: " c\r\n", count: 30_000)
        let head = try #require(parse(lines + ["D: e\r\n", "\r\n"]).heads.first)
        #expect(head.fields.count == 2)
        #expect(head.fields.first?.value.utf8.count == 1 + 2 * 30_000)
    }

    @Test(
        "A line that is not a field is left out",
        arguments: ["no colon\r\n", ": no name\r\n", "bad name: x\r\n", " folded: x\r\n", "\tfolded\r\n"])
    func noField(line: String) throws {
        let head = try #require(parse(["HTTP/1.1 200 OK\r\n", line, "Age: 5\r\n", "\r\n"]).heads.first)
        #expect(head.fields.count == 1)
        #expect(head.fields[.age] == "5")
    }

    @Test(
        "A folded line continues the field before it, with one space between",
        arguments: [
            (["ETag: a\r\n", " b\r\n"], "a b"), (["ETag: a\r\n", " \t b\r\n", "\tc: d\r\n"], "a b c: d"),
            (["ETag:\r\n", " a\r\n"], "a"), (["no colon\r\n", " x\r\n", "ETag: a\r\n"], "a"),
            (["ETag: a\r\n", " \r\n"], "a"),
        ])
    func folded(lines: [String], value: String) throws {
        let head = try #require(parse(["HTTP/1.1 200 OK\r\n"] + lines + ["\r\n"]).heads.first)
        #expect(head.fields[.eTag] == value)
        #expect(head.fields.count == 1)
    }

    @Test("Bytes that are not UTF-8 are read as Latin-1")
    func latin() throws {
        let name = Array("Content-Disposition: attachment; filename=na".utf8)
        let utf8 = try #require(
            parse([Array("HTTP/1.1 200 OK\r\n".utf8), name + Array("ïve".utf8) + [13, 10], [13, 10]]).heads.first)
        let latin = try #require(
            parse([Array("HTTP/1.1 200 OK\r\n".utf8), name + [0xEF, 0x76, 0x65, 13, 10], [13, 10]]).heads.first)
        #expect(utf8.fields[.contentDisposition] == "attachment; filename=naïve")
        #expect(latin.fields[.contentDisposition] == "attachment; filename=naïve")
    }

    @Test("A status line whose status has not three digits begins no head", arguments: ["2000", "20", "2x0", ""])
    func noStatus(status: String) {
        #expect(parse(["HTTP/1.1 \(status) OK\r\n", "ETag: \"a\"\r\n", "\r\n"]).heads.isEmpty)
    }

    @Test("Interim heads are dropped with their fields, and trailers are no second head")
    func interim() {
        let (heads, _) = parse([
            "HTTP/1.1 100 Continue\r\n", "\r\n", "HTTP/1.1 103 Early Hints\r\n", "ETag: \"no\"\r\n", "\r\n",
            "HTTP/1.1 200 OK\r\n", "Age: 1\r\n", "\r\n", "X-Trailer: 1\r\n", "\r\n",
        ])
        #expect(heads.map(\.status) == [200])
        #expect(heads[0].fields.count == 1)
    }

    @Test("A head is read the same way, whatever head came before it on the same engine")
    func afterOthers() {
        let heads = [
            ["HTTP/1.1 200 OK", "Server: a", "ETag: \"1\"", "Age: 5", ""],
            ["HTTP/1.1 206 Partial Content", "Server: a", "ETag: \"2\"", "Age: 5", ""],
            ["HTTP/1.1 200 OK", "Server: a", "Age: 5", ""], ["HTTP/1.1 404 Not Found", ""],
            ["HTTP/1.1 200 OK", "Server: a", "ETag: \"1\"", " folded", "Age: 5", "Age: 6", ""],
            ["HTTP/1.1 200 OK", "Server: a", "ETag: \"1\"", "no field", " folded", "Age: 5", ""],
            ["HTTP/1.1 100 Continue", "Server: b", "", "HTTP/1.1 200 OK", "server: a", "ETag: \"1\"", "Age:  5", ""],
            ["HTTP/1.1 200 OK", " folded", "Server: a", ""],
        ].map { lines in lines.map { Array("\($0)\r\n".utf8) } }
        for head in heads {
            for before in heads {
                let last = LastHead()
                for lines in [head, before] { _ = parse(lines, after: last) }
                #expect(parse(head, after: last).heads == parse(head).heads)
            }
        }
    }

    @Test("Two heads whose lines arrive alternately are read independently")
    func interleaved() {
        let last = LastHead()
        let lines = [["HTTP/1.1 200 OK", "ETag: a", "Age: 1", ""], ["HTTP/1.1 206 OK", "ETag: a", "Age: 2", ""]]
        _ = parse(lines[0].map { Array($0.utf8) }, after: last)
        var parsers = [ResponseHeadParser(after: last), ResponseHeadParser(after: last)]
        var ages: [String?] = []
        for number in lines[0].indices {
            for index in parsers.indices {
                let step = Array(lines[index][number].utf8).withUnsafeBytes { parsers[index].take($0) }
                if case .head(let head) = step { ages.append(head.fields[.age]) }
            }
        }
        #expect(ages == ["1", "2"])
    }

    @Test("A repeated field keeps both values")
    func repeated() throws {
        let head = try #require(
            parse(["HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n", "Content-Length: 6\r\n", "\r\n"]).heads.first)
        #expect(head.fields[values: .contentLength] == ["5", "6"])
    }

    @Test("The sum of all header lines is limited, including interim heads")
    func limit() {
        let filler = "X-Filler: \(String(repeating: "x", count: 1000))\r\n"
        #expect(parse(["HTTP/1.1 200 OK\r\n"] + Array(repeating: filler, count: 250) + ["\r\n"]).heads.count == 1)
        #expect(parse(["HTTP/1.1 200 OK\r\n"] + Array(repeating: filler, count: 270)).isTooLarge)
        let interim = ["HTTP/1.1 103 Early Hints\r\n", filler, "\r\n"]
        #expect(parse(Array(repeating: interim, count: 270).flatMap { $0 }).isTooLarge)
    }
}
