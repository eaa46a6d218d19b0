import ArgumentParser
import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Options that dlm show prints", .inTurn, .serialized)
struct GivenOptionsTests {
    private func request(_ words: [String]) throws -> DownloadRequest {
        var request = DownloadRequest(url: .example("https://h/a"), destination: Destination(folder: "/d"))
        request.proof = .auto
        try ItemOptions.read(words).apply(to: &request, in: "/work")
        return request
    }

    @Test("Options that were not given are not shown")
    func none() throws {
        #expect(GivenOptions.lines(try request([])).isEmpty)
    }

    @Test(
        "An impossible time from a damaged record is shown as it is",
        arguments: [-1e300, 1e300, .infinity, .nan])
    func damaged(time: Double) throws {
        var request = try request([])
        request.pacing = time
        #expect(GivenOptions.lines(request) == ["wait=\(time)s"])
    }

    /// The lines that `dlm show` prints for these options. `complete` tries simple values for the other options.
    static let examples = [
        "method=PUT", "user-agent=me", "referer=http://r/", "compressed", "max-redirects=3", "proto=https",
        "cookie-jar=/j",
        "tls-min=1.3",
        "proxy=http://10.0.0.1:3128",
        "no-proxy=a,b", "interface=lo", "ipv4", "ipv6", "http1.1", "http2", "http3", "doh-url=https://dns/q",
        "dns-cache-time=600s",
        "resolve=h:443:127.0.0.1", "retries=9", "retry-delay=2s", "retry-on=403", "connect-timeout=3s",
        "stall-timeout=0.5s", "max-time=3600s", "if-exists=rename", "no-content-disposition", "remote-time",
        "continue", "expect-type=image/*", "expect-status=203", "max-size=1024", "verify=require",
        "signed-by=/keys", "allow-rollback", "trust-on-first-use",
        "signed-by=RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3",
        "repair", "metalink-location=de", "no-follow-metalink",
        "hook-timeout=5s", "wait=2s", "window=01:00-06:00", "window=Mon-Fri 22:00-06:00", "url-command=new link",
        "at=2026-12-24 18:00:00",
        "notify", "on-complete-url=https://h/hook",
        "ssl", "ssl-reqd", "no-hsts", "digest", "ntlm", "negotiate", "anyauth", "basic",
        "aws-sigv4=aws:amz:eu-central-1:s3",
    ]
    /// Options with lines of their own in `dlm show`, and options that only say how to read another option.
    private static let elsewhere: Set = [
        "output", "directory", "header", "checksum", "connections", "limit-rate", "priority", "paused", "mirror",
        "insecure", "allow-unverified", "query", "data-urlencode", "netrc",
    ]
    /// Options with files, and options with secrets. Other tests check these options.
    private static let others: Set = [
        "netrc-file", "bearer-file", "bearer-command", "cookie-file", "ca-certificate", "crl-file", "certificate",
        "private-key", "pinned-public-key", "known-hosts", "ssh-key", "on-complete", "on-error", "checksum-file",
        "user", "data", "on-complete-bearer-file",
    ]

    /// Values to try for options that are not in `examples`.
    private static let values = ["3", "2s", "de", "5k", "http://h/", "01:00-06:00", "a=b"]

    @Test("Every option of a download is shown, or has a line of its own")
    func complete() throws {
        for name in OptionCatalog.item.names where !Self.elsewhere.contains(name) && !Self.others.contains(name) {
            let isTold = Self.examples.contains { $0 == name || $0 == "no-" + name || $0.hasPrefix(name + "=") }
            if isTold { continue }
            let option = try #require(OptionCatalog.item[name])
            let tries = option.isFlag ? [["--" + name], ["--no-" + name]] : Self.values.map { ["--\(name)=\($0)"] }
            let lines = tries.compactMap { try? request($0) }.flatMap { GivenOptions.lines($0) }
            #expect(
                lines.contains { $0.contains(name) }, "--\(name) is not shown; it may need a value in examples")
        }
    }

    @Test("Options are shown as they were given, by their long names", arguments: examples)
    func told(line: String) throws {
        #expect(GivenOptions.lines(try request(["--" + line])) == [line])
    }

    @Test("Files are shown by their absolute paths")
    func files() throws {
        var request = try request([])
        request.secretFiles.netrc = "/n"
        request.secretFiles.bearer = "/b"
        request.secretFiles.bearerCommand = "/bc"
        request.secretFiles.cookies = "/c"
        request.secretFiles.cookieJar = "/j"
        request.trust.authorities = "/ca"
        request.trust.revocations = "/crl"
        request.trust.certificate = "/cert"
        request.trust.privateKey = "/key"
        request.trust.pinnedKey = "/pin"
        request.trust.knownHosts = "/hosts"
        request.trust.sshKey = "/ssh"
        request.hooks = Hooks(onComplete: "/yes", onError: "/no")
        request.hooks?.completeBearerFile = "/token"
        #expect(
            GivenOptions.lines(request) == [
                "netrc-file=/n", "bearer-file=/b", "bearer-command=/bc", "cookie-file=/c", "cookie-jar=/j",
                "ca-certificate=/ca",
                "crl-file=/crl", "certificate=/cert", "private-key=/key", "pinned-public-key=/pin",
                "known-hosts=/hosts",
                "ssh-key=/ssh", "on-complete=/yes",
                "on-error=/no", "on-complete-bearer-file=/token",
            ])
    }

    @Test("Options with secrets are shown without the secrets")
    func secrets() throws {
        let request = try request([
            "--user", "ann:s3cret", "--data", "s3cret", "--proxy", "http://bob:s3cret@10.0.0.1:3128/",
            "--referer", "http://r/?token=s3cret",
        ])
        let text = GivenOptions.lines(request).joined(separator: "\n")
        #expect(!text.contains("s3cret"))
        for part in ["data=(not stored)", "proxy=http://10.0.0.1:3128", "proxy-user=bob"] {
            #expect(text.contains(part), "\(text)")
        }
    }
}
