import ArgumentParser
import DownloadKit
import Foundation
import Glibc

/// The options for the connection to the server.
struct NetworkOptions: OptionTable {
    @Option(
        "Use this proxy instead of the one in the environment; '' uses none. Form: "
            + "[SCHEME://][NAME:PASSWORD@]HOST[:PORT], with http, https, socks4, socks4a, socks5 or socks5h as SCHEME.",
        value: "url")
    var proxy: String?

    @Option("Use no proxy for these hosts, separated by commas; * means all.", value: "hosts")
    var noProxy: String?

    @Option("Send from this network interface or local address.", value: "name")
    var interface: String?

    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "Use only IPv4.")
    var ipv4 = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "Use only IPv6.")
    var ipv6 = false

    @Flag(name: .customLong("http1.1"), help: "Use only HTTP/1.1.")
    var http11 = false

    @Flag(name: .customLong("http2"), help: "Use HTTP/2 over https if the server supports it, even for large files.")
    var http2 = false

    @Option(
        "Connect to this address instead of looking up the host; repeatable. Separate several addresses with commas: "
            + "the next address is tried after a failure, or if one is slow.", value: "host:port:addr")
    var resolve: [String] = []

    @Option("Look up addresses at this server (DNS over HTTPS).", value: "url")
    var dohUrl: String?

    @Option(
        "Cache addresses for this long, and failed lookups for 1 s, then 2 s and so on, up to this long. Default: "
            + "cache addresses for 60 s, and failed lookups not at all.", value: "time")
    var dnsCacheTime: Seconds?

    func validate() throws {
        if ipv4, ipv6 { throw ValidationError("-4 and -6 exclude each other; give one") }
        if http11, http2 { throw ValidationError("--http1.1 and --http2 exclude each other; give one") }
        if interface == "" { throw ValidationError("--interface: no name given") }
        // The value may contain a password, so the message does not repeat it.
        if let proxy { _ = try ProxyAddress(argument: proxy) }
        for text in resolve { _ = try PinnedAddress.list(argument: text) }
        guard let dohUrl else { return }
        guard case .success(let parsed) = SourceURL.parse(dohUrl), parsed.url.scheme == "https" else {
            throw ValidationError("--doh-url: give the https URL of a name server")
        }
    }

    mutating func rows(_ row: inout OptionRows) {
        proxy = row(
            "proxy", .text, proxy,
            .sets(
                { $0.network.proxy = try ProxyAddress(argument: $1) },
                shows: { $0.network.proxy.map { $0.url.isEmpty ? "\"\"" : $0.url } }))
        row.show("proxy-user") { $0.network.proxy?.credential.map(\.user) }
        noProxy = row("no-proxy", .text, noProxy, .field(\.network.noProxy))
        interface = row("interface", .text, interface, .field(\.network.interface))
        ipv4 = row("ipv4", letter: "4", .flag, ipv4, .choice(\.network.addressFamily, .ipv4))
        ipv6 = row("ipv6", letter: "6", .flag, ipv6, .choice(\.network.addressFamily, .ipv6))
        http11 = row("http1.1", .flag, http11, .choice(\.network.httpVersion, .http1))
        http2 = row("http2", .flag, http2, .choice(\.network.httpVersion, .http2))
        resolve = row(
            "resolve", .texts, resolve, .sets { $0.network.addresses = try $1.flatMap(PinnedAddress.list(argument:)) })
        dohUrl = row("doh-url", .text, dohUrl, .field(\.network.nameServer))
        dnsCacheTime = row("dns-cache-time", .value(), dnsCacheTime, .seconds(\.network.dnsCacheTime))
        row.show("resolve", each: { ($0.network.addresses ?? []).map { "\($0.host):\($0.port):\($0.address)" } })
    }
}

extension ProxyAddress {
    init(argument text: String) throws {
        do throws(ParseError) { self = try Self.parse(text) } catch { throw ValidationError("--proxy: \(error.words)") }
    }
}

extension PinnedAddress {
    /// Returns the addresses of one argument, in the order in which they are tried.
    static func list(argument text: String) throws -> [PinnedAddress] {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        let words = parts.count == 3 ? parts[2].split(separator: ",", omittingEmptySubsequences: false) : []
        let addresses = words.compactMap { Self.address(String($0)) }
        guard !words.isEmpty, addresses.count == words.count, !parts[0].isEmpty, let port = UInt16(parts[1]), port > 0
        else { throw ValidationError("--resolve \(text): not of the form HOST:PORT:ADDRESS[,ADDRESS...]") }
        return addresses.map { PinnedAddress(host: parts[0].lowercased(), port: Int(port), address: $0) }
    }

    /// Returns the numeric address in a text; nil if the text is no address. An IPv6 address is returned in brackets.
    private static func address(_ text: String) -> String? {
        var address = in6_addr()
        if inet_pton(AF_INET, text, &address) == 1 { return text }
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        return inet_pton(AF_INET6, bare, &address) == 1 ? "[\(bare)]" : nil
    }
}
