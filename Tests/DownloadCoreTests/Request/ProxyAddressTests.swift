import DownloadCore
import Testing

struct ProxyAddressTests {
    @Test(
        "What libcurl takes for a proxy is one",
        arguments: [
            ("h", "http://h", nil), ("h:/", "http://h", nil), ("https://h:9/path", "https://h:9", nil),
            ("@h:9", "http://h:9", nil),
            (":s@h:9", "http://h:9", Credential(user: "", password: "s")),
            ("[fe80::1%25eth0]:3128", "http://[fe80::1%25eth0]:3128", nil),
            ("bücher.example:1", "http://bücher.example:1", nil),
            ("socks5h://localhost/run/tor.socket", "socks5h://localhost/run/tor.socket", nil),
            ("socks5h://localhost/", "socks5h://localhost", nil), ("socks5://h:1/run/socket", "socks5://h:1", nil),
        ] as [(String, String, Credential?)])
    func taken(text: String, url: String, credential: Credential?) throws {
        let proxy = try ProxyAddress.parse(text)
        #expect(proxy == ProxyAddress(url: url, credential: credential))
    }

    @Test(
        "Text that is no proxy is none",
        arguments: [":::", "h:port", "h:0", "h:70000", "a b", "h%41", "http://", "u@", "[::1"])
    func refused(text: String) {
        #expect(throws: ProxyAddress.ParseError.badHost) { try ProxyAddress.parse(text) }
    }
}
