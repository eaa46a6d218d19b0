@testable import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

/// Names and addresses from URLs, redirects, lists and the command line.
@Suite("Fuzzing: names and addresses", .inTurn)
struct NameFuzzTests {
    static let long = String(repeating: "é", count: 140)
    static let names = [
        "report.pdf", "archive.tar.gz", "na\u{308}ive file (1).txt", ".hidden", "日本語.zip", "a/../b", "..\\..\\c.exe",
        long + ".tar.gz", "x" + String(repeating: "\u{301}", count: 200) + ".bin", "👨‍👩‍👧.png", "CON", "~root",
    ]

    @Test("Names: a name becomes one safe component, which stays the same when it is made safe again")
    func sanitized() {
        let fuzzing = Fuzzing("File names", corpus: Self.names, words: [".tar", ".gz", ".part", " ", "\u{3000}", "~"])
        fuzzing.run { input in
            guard let name = FileNaming.sanitized(String(decoding: input, as: UTF8.self)) else { return nil }
            if !FileNaming.isSafe(name) { return "unsafe: \(name.debugDescription)" }
            if FileNaming.sanitized(name) != name { return "not stable: \(name.debugDescription)" }
            let alternative = FileNaming.alternative(name, 12)
            return FileNaming.isSafe(alternative) && alternative != name ? nil : alternative.debugDescription
        }
        fuzzing.runsInLinearTime { _ = FileNaming.sanitized(String(decoding: $0, as: UTF8.self)) }
    }

    @Test("URL paths: the last segment gives a safe component or none")
    func path() {
        let corpus = ["/a/b.bin", "/a%2Fb%00.txt", "/%E6%97%A5.zip", "/a/", "/%FF%FE", "/..%2f..%2fetc", ""]
        let fuzzing = Fuzzing("URL paths", corpus: corpus, words: ["%2e", "%ff", "%E2%80%AE"])
        fuzzing.run { input in
            guard let name = FileNaming.name(fromPath: String(decoding: input, as: UTF8.self)) else { return nil }
            return FileNaming.isSafe(name) ? nil : name.debugDescription
        }
        fuzzing.runsInLinearTime { _ = FileNaming.name(fromPath: String(decoding: $0, as: UTF8.self)) }
    }

    static let urls = [
        "http://example.org/a.bin", "https://user:p%40ss@example.org:8443/a/b?c=d#e", "HTTP://EXAMPLE.ORG",
        "https://[::1]:80/x", "http://bücher.example/ü ö", "http://h/%zz%20 %", "http://h?q", "http://a.b/../../c",
        "http://user@h/", "http://xn--bcher-kva.example/", "http://127.0.0.1:9/a;b=c", "http://xn--%21",
        "http://xn--a%41", "https://[fe80::1%25eth0]/", "http://xn--ber.%74..",
    ]

    @Test("URLs: a URL is ASCII without user or fragment, and is the same after it is written and read again")
    func url() {
        let fuzzing = Fuzzing(
            "URLs", corpus: Self.urls,
            words: [
                "http://", "https://", "[::1]", "..", "-", ":443", ":080", "//", "@", "?", "%41", "%", "xn--", ":0",
                ":65536", "ü",
            ])
        fuzzing.run { input in
            let text = String(decoding: input, as: UTF8.self)
            if let plain = SourceURL.plain(text), (try? SourceURL.parseAny(text).get())?.url != plain {
                return "read differently without Foundation: \(plain)"
            }
            guard case .success(let (url, _)) = SourceURL.parse(text) else { return nil }
            if !url.string.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) { return "not ASCII: \(url)" }
            if !url.path.hasPrefix("/") || url.host.isEmpty || !(1...65535).contains(url.port) { return "\(url)" }
            if url.string.contains("#") { return "with a fragment: \(url)" }
            guard case .success(let (again, credential)) = SourceURL.parse(url.string) else {
                return "not read again: \(url)"
            }
            if credential != nil { return "with a user: \(url)" }
            return again == url ? nil : "\(url) became \(again)"
        }
        fuzzing.runsInLinearTime { _ = SourceURL.parse(String(decoding: $0, as: UTF8.self)) }
    }

    @Test("Header fields: a field has no line break, and is the same after it is written and read again")
    func header() {
        let fuzzing = Fuzzing(
            "Header fields", corpus: ["Accept: */*", "X-Empty;", "Authorization: Basic eA==", "A:b:c", "X-Ü: é"])
        fuzzing.run { input in
            guard let field = RequestHeader(String(decoding: input, as: UTF8.self)), let value = field.value else {
                return nil
            }
            let bytes = Array("\(field.name)\(value)".utf8)
            if bytes.contains(where: { ($0 < 0x20 && $0 != 9) || $0 == 0x7F }) { return "a control character" }
            return RequestHeader("\(field.name): \(value)") == field ? nil : "not read again"
        }
        fuzzing.runsInLinearTime { _ = RequestHeader(String(decoding: $0, as: UTF8.self)) }
    }

    @Test("Checksums: a checksum has hexadecimal digits, and is the same after it is written and read again")
    func checksum() {
        let corpus = Checksum.Algorithm.allCases.map { "\($0):" + String(repeating: "0f", count: 16) }
        let fuzzing = Fuzzing(
            "Checksums", corpus: corpus + ["sha-256=" + String(repeating: "AB", count: 32)], words: ["sha", "-", "K"])
        fuzzing.run { input in
            guard let checksum = Checksum(String(decoding: input, as: UTF8.self)) else { return nil }
            let isHex = checksum.digest.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
            return isHex && Checksum(checksum.description) == checksum ? nil : checksum.description
        }
        fuzzing.runsInLinearTime { _ = Checksum(String(decoding: $0, as: UTF8.self)) }
    }
}
