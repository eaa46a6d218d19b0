import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

/// Text of any length from users, servers and files.
@Suite("Fuzzing: linear time", .inTurn, .serialized, .timeLimit(.minutes(5)))
struct LinearTimeFuzzTests {
    private static let zone = TimeZone.gmt
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    @Test("Secrets are removed from a server's text in linear time")
    func secrets() throws {
        var request = DownloadRequest(
            url: try SourceURL.parse("http://host/a").get().url, destination: Destination(folder: "/tmp"))
        // Nearly the whole secret occurs everywhere in the text.
        request.headers = [RequestHeader(name: "Authorization", value: String(repeating: "a", count: 4000) + "b")]
        let secrets = RequestSecrets(request, LoadedSecrets())
        let fuzzing = Fuzzing("Hidden secrets", corpus: ["aaaa"], words: ["a", "ab", "%61"])
        fuzzing.runsInLinearTime(after: ["", "http://host/"]) { input in
            let text = String(decoding: input, as: UTF8.self)
            _ = secrets.hidden(in: text)
            if case .success(let parsed) = SourceURL.parse(text) { _ = secrets.occur(in: parsed.url) }
        }
    }

    @Test("Names and passwords in URLs are found in linear time")
    func userInformation() {
        let fuzzing = Fuzzing(
            "User information", corpus: ["http://a:b@c/"], words: ["a:", "://", "@", ":", "a:b@", ":/"])
        fuzzing.runsInLinearTime { input in
            _ = UserInformation.inURLs(input)
            _ = UserInformation.hiding(UserInformation.inWords(input), in: input)
            _ = SourceURL.hidingUserInformation(String(decoding: input, as: UTF8.self))
        }
    }

    @Test("Files with secrets are read in linear time")
    func files() {
        let line = ".example.org\tTRUE\t/\tFALSE\t0\tname\tvalue\n"
        let words = ["a ", "machine a login b password \"c\\d\" ", "macdef x\n\n", "\"", "#", "\n", "\t"]
        let fuzzing = Fuzzing("Files with secrets", corpus: [line], words: words)
        fuzzing.runsInLinearTime(after: ["", "machine ", line]) { input in
            _ = Netrc(input).credential(for: "host", allowsDefault: true)
            _ = HSTSList(String(decoding: input, as: UTF8.self), now: Self.now)
            _ = try? CookieList(CookieList.lines(of: input, "cookies")).lines(for: "www.example.org")
        }
    }

    @Test("Thousands of changed cookies are saved in linear time")
    func cookies() {
        let fuzzing = Fuzzing("Cookie jars", corpus: ["0123456789"])
        fuzzing.runsInLinearTime { input in
            func lines(_ value: String) -> [String] {
                (0..<input.count / 16).map { "h\tFALSE\t/\tFALSE\t0\tname\($0)\t\(value)" }
            }
            var list = CookieList(lines("before"))
            list.learn(TransferResult.KnownCookies(host: "h", sent: lines("before"), lines: lines("after")))
            _ = list.jar(from: lines("before"), now: Self.now)
        }
    }

    @Test("Hosts, addresses and redirects are read in linear time")
    func addresses() throws {
        let base = try SourceURL.parse("http://host/a").get().url
        let pattern = try #require(HostPattern("*a.*b.example.org"))
        let words = ["a", "a.", "*.", "*", "xn--", "-", ":", "[", "%41", "a=b&", "X-Amz-Date=20261122T080000Z&", "ü"]
        let fuzzing = Fuzzing("Addresses", corpus: ["host"], words: words)
        fuzzing.runsInLinearTime(after: ["", "http://", "http://h/", "http://h/?"]) { input in
            let text = String(decoding: input, as: UTF8.self)
            _ = HostPattern(text)?.matches("a.b.example.org")
            _ = pattern.matches(text)
            _ = RedirectPolicy().decide(from: base, to: text, hops: 0)
            _ = SourceURL.host(of: text)
            guard case .success(let parsed) = SourceURL.parse(text) else { return }
            _ = LinkExpiry.date(of: parsed.url)
            _ = parsed.url.overHTTPS
        }
    }

    @Test("Values of options are read in linear time")
    func values() {
        let words = ["200,", "1-", "text/", "*", "Mon-", "08:00-", "1h", "2026-", "sha256:", ":", "ab"]
        let fuzzing = Fuzzing("Values", corpus: ["a/b"], words: words)
        fuzzing.runsInLinearTime { input in
            let text = String(decoding: input, as: UTF8.self)
            _ = StatusCodes(text)
            _ = MediaRange(text)?.contains("text/html")
            _ = TimeWindow(text)
            _ = StartTime.parse(text, now: Self.now, zone: Self.zone)
            _ = Checksum(text)
        }
    }
}
