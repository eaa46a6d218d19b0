import ArgumentParser
import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("The proxy in force", .inTurn, .serialized)
struct ProxyEnvironmentTests {
    private func variable(_ environment: [String: String], _ url: String) throws -> String? {
        let (address, _) = try SourceURL.parse(url).get()
        return ProxyEnvironment(environment).proxy(for: address)?.variable
    }

    @Test(
        "The variables are read as libcurl reads them",
        arguments: [
            (["http_proxy": "p"], "http://a/", "http_proxy"),
            (["HTTP_PROXY": "p"], "http://a/", nil),
            (["HTTPS_PROXY": "p"], "https://a/", "HTTPS_PROXY"),
            (["https_proxy": "p", "HTTPS_PROXY": "q"], "https://a/", "https_proxy"),
            (["https_proxy": "", "ALL_PROXY": "q"], "https://a/", "ALL_PROXY"),
            (["all_proxy": "p", "http_proxy": "q"], "http://a/", "http_proxy"),
            (["all_proxy": "p", "no_proxy": "b, .a.example"], "http://x.a.example/", nil),
            (["all_proxy": "p", "no_proxy": "a.example"], "http://ba.example/", "all_proxy"),
            (["all_proxy": "p", "NO_PROXY": "*"], "http://a/", nil),
            (["all_proxy": "p", "no_proxy": "10.0.0.0/8"], "http://10.1.2.3/", nil),
            (["all_proxy": "p", "no_proxy": "10.0.0.0/8"], "http://11.1.2.3/", "all_proxy"),
            (["all_proxy": "p", "no_proxy": "[::1]"], "http://[::1]/", nil),
            (["all_proxy": "p", "no_proxy": "fd00::/8"], "http://[fd12::1]/", nil),
            (["all_proxy": "p", "no_proxy": "10.0.0.0/99"], "http://10.1.2.3/", "all_proxy"),
            (["all_proxy": "p", "ftp_proxy": "q"], "ftp://a/b", "ftp_proxy"),
            (["all_proxy": "p", "ftp_proxy": "q"], "ftps://a/b", "all_proxy"),
            (["SFTP_PROXY": "p", "ftp_proxy": "q"], "sftp://a/b", "SFTP_PROXY"),
            (["all_proxy": "p", "file_proxy": "q"], "file:///b", nil),
        ] as [([String: String], String, String?)])
    func choice(environment: [String: String], url: String, expected: String?) throws {
        #expect(try variable(environment, url) == expected)
    }

    @Test("Options override the environment, and '' means no proxy")
    func asked() throws {
        let url = try SourceURL.parse("http://a.example/").get().url
        var settings = NetworkSettings()
        settings.proxy = ProxyAddress(url: "socks5h://b:1", credential: Credential(user: "u", password: "secret"))
        let environment = ["http_proxy": "c", "no_proxy": "a.example"]
        #expect(ProxyEnvironment(environment, settings).proxy(for: url) == nil)
        settings.noProxy = ""
        let proxy = ProxyEnvironment(environment, settings).proxy(for: url)
        #expect(proxy == .init(variable: "--proxy", value: "socks5h://b:1"))
        settings.proxy = ProxyAddress(url: "")
        #expect(ProxyEnvironment(environment, settings).proxy(for: url) == nil)
    }

    @Test(
        "The name and the password of a proxy are decoded as libcurl does",
        arguments: [
            ("u:100%@h:9", "100%"), ("u:a%20b%@h:9", "a b%"), ("u:%4g%41@h:9", "%4gA"), ("u:%@h:9", "%"), ("u@h:9", ""),
        ])
    func credential(text: String, password: String) throws {
        #expect(try ProxyAddress.parse(text).credential == Credential(user: "u", password: password))
        #expect(throws: ProxyAddress.ParseError.badCredential) { try ProxyAddress.parse("u:%E9@h:9") }
    }

    @Test("HTTP_PROXY alone gives a warning, an unknown kind of proxy is a problem, and no password is shown")
    func findings() {
        let environment = ProxyEnvironment([
            "HTTP_PROXY": "u:secret@a", "https_proxy": "gopher://u:secret@b", "no_proxy": "localhost",
        ])
        let findings = environment.findings
        #expect(findings.map(\.outcome) == [.ok, .problem(2), .warning, .ok])
        #expect(!findings.contains { $0.detail.contains("secret") })
        #expect(findings[1].detail.hasPrefix("gopher://***@b"))
    }
}
