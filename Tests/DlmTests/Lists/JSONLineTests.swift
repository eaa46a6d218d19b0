import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("JSON lines in a list", .inTurn, .serialized)
struct JSONLineTests {
    private func plain(_ text: String, options: [InputList.Line] = []) throws -> InputList.Line {
        try JSONLine.plain(InputList.Line(number: 7, text: text, options: options))
    }

    @Test("url is the URL, and the other keys are options, as in indented lines")
    func keys() throws {
        let line = try plain(
            #"{"url":"https://a/b","output":"c","retries":3,"remote-time":true,"header":["A: b","C: d"],"user":null,"max-time":1.5}"#,
            options: [InputList.Line(number: 8, text: "  output=e")])
        #expect(line.text == "https://a/b" && line.number == 7)
        #expect(
            line.options.map(\.text) == [
                " header=A: b", " header=C: d", " max-time=1.5", " output=c", " remote-time=true", " retries=3",
                "  output=e",
            ])
    }

    @Test("Lines without JSON are not changed, and a JSON line may begin with spaces")
    func others() throws {
        #expect(try plain("https://a/{b}").text == "https://a/{b}")
        #expect(try plain(#"  {"url":"https://a/b"}"#).text == "https://a/b")
    }

    @Test("An option name with an equal sign is reported as an unknown option")
    func equalSign() throws {
        let error = #expect(throws: ListOptions.Failure.self) { try plain(#"{"url":"a","a=b":"c"}"#) }
        #expect(error?.message.hasPrefix("a=b: unknown option") == true)
    }

    @Test(
        "Malformed JSON lines are errors with their line numbers",
        arguments: [
            "{", "{}", #"{"url":""}"#, #"{"url":[]}"#, #"{"url":{}}"#, #"{"url":"a","output":{"b":1}}"#,
            #"{"url":"a","header":"A: b\nX: y"}"#, #"{"url":"a","a=b":"c"}"#, #"{"url":"a"} x"#,
        ])
    func wrong(_ text: String) throws {
        let error = #expect(throws: ListOptions.Failure.self) { try plain(text) }
        #expect(error?.line == 7)
    }

    @Test("In a mixed list, wrong lines are reported with their numbers, and the other lines are downloaded")
    func list() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            {"url":"http://a/1","output":"one","checksum":"md5:d41d8cd98f00b204e9800998ecf8427e"}
            http://a/2
              output=two
            {"url":"http://a/3","on-complete":"rm"}
            {"url":"http://a/4","directroy":"x"}
            {"url":"nonsense"}
            """, to: "list")
        let service = FollowerTests.completing()
        let (status, captured) = try await run(["get", "-i", folder("list"), "-d", "/data"], service)
        #expect(status == 2)
        #expect(captured.outputLines.sorted() == ["/data/one", "/data/two"])
        #expect(captured.errorLines.count == 3, "\(captured.errors)")
        for (line, word) in zip(captured.errorLines, ["list:4: on-complete", "list:5: directroy", "list:6: nonsense"]) {
            #expect(line.contains(word), "\(line)")
        }
    }
}
