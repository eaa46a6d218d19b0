import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("NetworkOutage: what is an outage of the network", .inTurn, .timeLimit(.minutes(1)))
struct NetworkOutageTests {
    /// A machine that reaches only these addresses.
    struct Machine: LocalNetwork {
        var reached: Set<String> = []
        var sources: [NetworkPath.Source] = []
        var servers = ["10.0.0.53"]
        var isMute = false

        func hasChanged() -> Bool { false }
        func usableAddresses() -> Set<String>? { nil }
        func reaches(_ address: String, from source: NetworkPath.Source?) -> Bool? {
            isMute ? nil : reached.contains(address)
        }
        func has(_ source: NetworkPath.Source) -> Bool { sources.contains(source) }
        func nameServers() -> [String] { servers }
        func timeAsleep() -> Duration { .zero }
    }

    static let world4 = "203.0.113.1"
    static let world6 = "2001:db8::1"

    func isDown(_ path: NetworkPath, _ machine: Machine) -> Bool { NetworkOutage.isDown(path, machine) }

    @Test("A server is out of reach if the kernel has no route to its address")
    func address() {
        let path = NetworkPath(address: "198.51.100.7")
        #expect(isDown(path, Machine()))
        #expect(!isDown(path, Machine(reached: ["198.51.100.7"])))
        #expect(!isDown(path, Machine(isMute: true)))
    }

    @Test("A missing address family is an outage only if the server was reached before")
    func family() {
        let machine = Machine(reached: [Self.world4])
        #expect(!isDown(NetworkPath(address: "2001:db8:5::1"), machine))
        #expect(isDown(NetworkPath(address: "2001:db8:5::1", hasWorked: true), machine))
        #expect(isDown(NetworkPath(address: "198.51.100.7"), machine))
    }

    @Test("An address of this machine is never out of reach")
    func local() throws {
        for address in ["127.0.0.1", "127.8.8.8", "::1"] { #expect(!isDown(NetworkPath(address: address), Machine())) }
        for url in ["http://localhost/x", "http://a.localhost:8080/x", "http://127.0.0.1/x", "http://[::1]:8080/x"] {
            #expect(!isDown(NetworkPath(try record(url)), Machine()), "\(url)")
        }
    }

    @Test("A host name is out of reach if neither a name server nor any public address is within reach")
    func name() throws {
        let path = NetworkPath(try record("http://example.org/x"))
        #expect(path.address == nil)
        #expect(isDown(path, Machine()))
        for reached in ["10.0.0.53", Self.world4, Self.world6] { #expect(!isDown(path, Machine(reached: [reached]))) }
        // A name server on this machine is always within reach, and therefore proves nothing.
        #expect(isDown(path, Machine(reached: ["127.0.0.53"], servers: ["127.0.0.53"])))
    }

    @Test("A missing source interface or address is an outage only if it worked before")
    func source() {
        for source in [NetworkPath.Source.interface("wwan0"), .address("10.0.0.9")] {
            #expect(!isDown(NetworkPath(address: "198.51.100.7", source: source), Machine()))
            #expect(isDown(NetworkPath(address: "198.51.100.7", source: source, hasWorked: true), Machine()))
            let there = Machine(sources: [source])
            #expect(isDown(NetworkPath(address: "198.51.100.7", source: source), there))
        }
    }

    @Test("A route is needed to the last connection's address, else to the proxy, else to the host")
    func path() throws {
        #expect(NetworkPath(try record("http://198.51.100.7/x")).address == "198.51.100.7")
        #expect(NetworkPath(try record("http://[2001:db8::7]/x")).address == "2001:db8::7")
        var proxied = try record("http://198.51.100.7/x")
        proxied.request.network.proxy = ProxyAddress(url: "http://10.0.0.3:3128")
        #expect(NetworkPath(proxied).address == "10.0.0.3")
        proxied.request.network.proxy = ProxyAddress(url: "")
        #expect(NetworkPath(proxied).address == "198.51.100.7")
        var pinned = try record("http://example.org/x")
        pinned.request.network.addresses = [PinnedAddress(host: "example.org", port: 80, address: "[2001:db8::9]")]
        #expect(NetworkPath(pinned).address == "2001:db8::9")
        var connected = try record("http://example.org/x")
        connected.attempts = [AttemptRecord(started: Date()), AttemptRecord(started: Date())]
        connected.attempts[0].metrics = TransferMetrics()
        connected.attempts[0].metrics?.remoteAddress = "198.51.100.9"
        #expect(NetworkPath(connected) == NetworkPath(address: "198.51.100.9", hasWorked: true))
        var bound = try record("http://example.org/x")
        for (text, source) in [("eth0", NetworkPath.Source.interface("eth0")), ("10.0.0.9", .address("10.0.0.9"))] {
            bound.request.network.interface = text
            #expect(NetworkPath(bound).source == source)
        }
    }

    private func record(_ url: String) throws -> DownloadRecord {
        let parsed = try SourceURL.parse(url).get().url
        return DownloadRecord(
            id: 1, request: DownloadRequest(url: parsed, destination: Destination(folder: "/")), state: .queued,
            created: Date())
    }

    @Test("Sleep is noticed once, and only if longer than a few seconds")
    func slept() {
        var watch = SleepWatch()
        let noticed = [3600, 3600, 3604, 3610, 3610].map { watch.hasSlept(.seconds($0)) }
        #expect(noticed == [false, false, false, true, false])
    }
}
