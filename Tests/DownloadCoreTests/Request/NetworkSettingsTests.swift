import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("NetworkSettings: addresses", .inTurn)
struct NetworkSettingsTests {
    @Test("An address for a URL comes before the others of its host and port, and IPv6 is in brackets")
    func connect() throws {
        let url = try SourceURL.parse("https://a.example/file").get().url
        var settings = NetworkSettings()
        #expect(settings.pinned(for: url).isEmpty)
        settings.addresses = [
            PinnedAddress(host: "b.example", port: 443, address: "192.0.2.1"),
            PinnedAddress(host: "a.example", port: 80, address: "192.0.2.2"),
            PinnedAddress(host: "*", port: 443, address: "192.0.2.3"),
        ]
        #expect(settings.pinned(for: url) == ["192.0.2.3"])
        settings.connect(to: "2001:db8::1", for: url)
        #expect(settings.pinned(for: url) == ["[2001:db8::1]", "192.0.2.3"])
        settings.connect(to: "[2001:db8::2]", for: url)
        #expect(settings.pinned(for: url).first == "[2001:db8::2]")
        #expect(settings.addresses?.count == 5)
    }
}
