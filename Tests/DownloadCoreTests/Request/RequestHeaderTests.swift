import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct RequestHeaderTests {
    @Test(
        "A header line is read as curl reads -H",
        arguments: [
            ("X-A: b", "X-A", "b"), ("X-A:b", "X-A", "b"), ("X-A: \t b c \t", "X-A", "b c"), ("X-A:", "X-A", ""),
            ("X-A;", "X-A", ""), ("X-A; ", "X-A", ""), ("X-A: b:c;d", "X-A", "b:c;d"), ("X-A: é 日本", "X-A", "é 日本"),
            ("x!#$%&'*+-.^_`|~0: b", "x!#$%&'*+-.^_`|~0", "b"), ("A: \u{301}b", "A", "\u{301}b"),
            ("A:\u{301}b", "A", "\u{301}b"), ("A: a\tb", "A", "a\tb"),
        ])
    func reads(_ text: String, _ name: String, _ value: String) {
        #expect(RequestHeader(text) == RequestHeader(name: name, value: value))
    }

    @Test(
        "Text that is not exactly one header field is refused",
        arguments: [
            "", ":", ";", ": b", "X-A", "X A: b", " X-A: b", "X-A : b", "X-Ä: b", "X-A; b", "X\"A: b", "(X): b",
            "X/A: b", "@file", "X-A: b\nX-B: c", "X-A: b\r\nX-B: c", "X-A: b\r", "X\n-A: b", "X-A: b\0",
            "X-A: \u{1B}[31m",
            "X-A: \u{7F}", "X-A\u{301}: b", "GET / HTTP/1.1", "[X]: b", "{X}: b", "X,A: b",
        ])
    func refuses(_ text: String) {
        #expect(RequestHeader(text) == nil)
    }

    @Test(
        "Fields that carry credentials, or look as if they do, are secret",
        arguments: [
            ("Authorization", true), ("PROXY-AUTHORIZATION", true), ("Cookie", true), ("cookie2", true),
            ("X-Api-Key", true), ("ApiKey", true), ("X-Auth-Key", true), ("X-Auth", true), ("PRIVATE-TOKEN", true),
            ("X-Amz-Security-Token", true), ("X-Amz-Signature", true), ("Ocp-Apim-Subscription-Key", true),
            ("X-Secret", true), ("X-Password", true), ("X-Session-Id", true), ("X-JWT", true), ("X-Credential", true),
            ("X-Passphrase", true), ("Accept", false), ("User-Agent", false), ("Referer", false), ("Range", false),
            ("X-Bypass-Cache", false), ("Accept-Language", false), ("If-None-Match", false), ("X-Request-Id", false),
        ])
    func secrets(_ name: String, _ isSecret: Bool) {
        #expect(RequestHeader(name: name, value: "v").isSecret == isSecret)
    }

    @Test("An ordinary field survives encoding", arguments: ["", "b", "é"])
    func codable(_ value: String) throws {
        let header = RequestHeader(name: "X-A", value: value)
        #expect(try JSONDecoder().decode(RequestHeader.self, from: JSONEncoder().encode(header)) == header)
    }

    @Test("A secret field is encoded, printed and dumped without its value")
    func secretIsNotStored() throws {
        let header = RequestHeader(name: "Authorization", value: "Bearer hunter2")
        let data = try JSONEncoder().encode(header)
        #expect(!String(decoding: data, as: UTF8.self).contains("hunter2"))
        let stored = try JSONDecoder().decode(RequestHeader.self, from: data)
        #expect(stored == RequestHeader(name: "Authorization", value: nil))
        var dumped = ""
        dump(header, to: &dumped)
        for text in ["\(header)", String(reflecting: header), "\([header])", dumped] {
            #expect(text.contains("Authorization"))
            #expect(!text.contains("hunter2"))
        }
        #expect("\(RequestHeader(name: "X-A", value: "b"))" == "X-A: b")
    }
}
