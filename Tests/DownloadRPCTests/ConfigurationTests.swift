import DownloadTestSupport
import Testing

@testable import DownloadRPC

@Suite("Where the RPC server listens", .inTurn)
struct ConfigurationTests {
    @Test(
        "Numeric addresses and ports are read",
        arguments: [
            ("6801", "127.0.0.1", 6801), ("127.0.0.1", "127.0.0.1", 6800), ("0.0.0.0:80", "0.0.0.0", 80),
            ("::1", "::1", 6800),
            ("[::1]:7000", "::1", 7000), ("[::]", "::", 6800), ("127.0.0.1:0", "127.0.0.1", 0),
        ])
    func listen(text: String, host: String, port: Int) throws {
        let address = try #require(RPCConfiguration.listen(text))
        #expect(address.host == host && address.port == port)
    }

    @Test(
        "Names and invalid addresses are refused",
        arguments: [
            "", "localhost", "example.org:80", "1.2.3.4:", "1.2.3.4:65536", ":80", "[::1", "[::1]x", "-1", "1.2.3",
            "http://1.2.3.4",
        ])
    func refused(text: String) { #expect(RPCConfiguration.listen(text) == nil) }
}
