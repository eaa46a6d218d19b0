import ArgumentParser
import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Numbered URLs")
struct URLPatternsTests {
    private func urls(_ text: String) throws -> [String] {
        try URLPatterns(isLiteral: false).expanded([text]).map(\.url)
    }

    @Test(
        "Patterns expand to several URLs, and the last pattern changes fastest",
        arguments: [
            ("h/[8-11]", ["h/8", "h/9", "h/10", "h/11"]), ("h/[08-11].x", ["h/08.x", "h/09.x", "h/10.x", "h/11.x"]),
            ("h/[000-4:2]", ["h/000", "h/002", "h/004"]), ("[a-c]", ["a", "b", "c"]), ("[A-E:3]", ["A", "D"]),
            ("h/{a,,b}", ["h/a", "h/", "h/b"]), ("{a,b}/[1-2]", ["a/1", "a/2", "b/1", "b/2"]),
        ])
    func patterns(text: String, expected: [String]) throws { #expect(try urls(text) == expected) }

    @Test(
        "Brackets that are no pattern stay as they are",
        arguments: [
            "http://[::1]:80/x", "http://[fe80::1-2]/", "h/?id[]=3", "h/?a[0]=b", "h/[3-1]", "h/[1-x]", "h/[a-Z]",
            "h/{a}", "h/{",
            "h/[1-2", "h/[1-2:0]", "h/]}", "h/[99999999999999999999-2]",
        ])
    func literal(text: String) throws {
        #expect(try urls(text) == [text])
        #expect(try URLPatterns(isLiteral: false).count(in: [text]) == 1)
    }

    @Test("A backslash or --no-glob makes brackets literal")
    func escaped() throws {
        #expect(try urls("h/\\[1-2\\]\\{a,b\\}") == ["h/[1-2]{a,b}"])
        #expect(try URLPatterns(isLiteral: true).expanded(["h/[1-2]\\["]).map(\.url) == ["h/[1-2]\\["])
    }

    @Test(
        "Too many URLs are refused before any URL is made",
        arguments: ["h/[1-100001]", "h/[1-999]/[1-999]/[1-999999999]"])
    func tooMany(text: String) {
        #expect(throws: ValidationError.self) { try urls(text) }
        #expect(throws: (any Error).self) { try DLM.command(["get", text]) }
    }

    @Test("A hostile URL of many brackets takes neither time nor memory", .timeLimit(.minutes(1)))
    func hostile() throws {
        for text in ["{", "{a,", "[1-", "{a,b", "[[1-2", "{a{b,c"] {
            let url = "h/" + String(repeating: text, count: 20_000)
            #expect(try urls(url) == [url])
        }
        for text in ["[0-999999999999]", "{a,b}", "[0-99999]"] {
            #expect(throws: ValidationError.self) { try urls("h/" + String(repeating: text, count: 8000)) }
        }
    }

    @Test("dlm get requests each URL, and #1 in -o becomes the text of the first pattern")
    func get() async throws {
        let service = FollowerTests.completing()
        let (status, captured) = try await run(
            ["get", "http://127.0.0.1/{a,b}/[09-10].x", "-o", "d/#1-#2#3.y"], service)
        #expect(status == 0, "\(captured.errors)")
        #expect(
            service.requests.map(\.url.string).map { $0.dropFirst(17) } == ["a/09.x", "a/10.x", "b/09.x", "b/10.x"])
        #expect(service.requests.map(\.destination.fileName) == ["a-09#3.y", "a-10#3.y", "b-09#3.y", "b-10#3.y"])
        #expect(service.requests.allSatisfy { $0.destination.folder == "/d" })
    }

    @Test(
        "Options for a single file are refused together with patterns for several URLs",
        arguments: [
            ["-o", "x"], ["-o", "#1/x"], ["--mirror", "http://h/y"],
            ["--checksum", "md5:00112233445566778899aabbccddeeff"],
        ])
    func refused(options: [String]) {
        #expect(throws: (any Error).self) { try DLM.command(["get", "http://h/[1-2]"] + options) }
        #expect(throws: Never.self) { try DLM.command(["get", "http://h/[1-1]"] + options) }
    }
}
