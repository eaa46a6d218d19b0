import ArgumentParser
import DownloadKit
import Foundation
import Glibc

/// The options for the connection to the server.
struct NetworkOptions: OptionTable {
    var proxy: String?
    var noProxy: String?
    var interface: String?
    var ipv4 = false
    var ipv6 = false
    var http11 = false
    var http2 = false
    var http3 = false
    var resolve: [String] = []
    var dohUrl: String?
    var dnsCacheTime: Seconds?

    func validate() throws {
        if ipv4, ipv6 { throw ValidationError("-4 and -6 exclude each other; give one") }
        if [http11, http2, http3].count(where: \.self) > 1 {
            throw ValidationError("--http1.1, --http2 and --http3 exclude each other; give one")
        }
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
        row(
            &proxy, "proxy", secret: .proxy, .word("url"),
            "Use this proxy instead of the one in the environment; '' uses none. Form: "
                + "[SCHEME://][NAME:PASSWORD@]HOST[:PORT], with http, https, socks4, socks4a, socks5 or socks5h as "
                + "SCHEME.",
            .sets(
                { $0.network.proxy = try ProxyAddress(argument: $1) },
                shows: { $0.network.proxy.map { $0.url.isEmpty ? "\"\"" : $0.url } }))
        row.show("proxy-user") { $0.network.proxy?.credential.map(\.user) }
        row(
            &noProxy, "no-proxy", .word("hosts"), "Use no proxy for these hosts, separated by commas; * means all.",
            .field(\.network.noProxy))
        row(
            &interface, "interface", .word("name"), "Send from this network interface or local address.",
            .field(\.network.interface))
        row(&ipv4, "ipv4", letter: "4", .flag, "Use only IPv4.", .choice(\.network.addressFamily, .ipv4))
        row(&ipv6, "ipv6", letter: "6", .flag, "Use only IPv6.", .choice(\.network.addressFamily, .ipv6))
        row(&http11, "http1.1", .flag, "Use only HTTP/1.1.", .choice(\.network.httpVersion, .http1))
        row(
            &http2, "http2", .flag, "Use HTTP/2 over https if the server supports it, even for large files.",
            .choice(\.network.httpVersion, .http2))
        row(
            &http3, "http3", .flag,
            "Use HTTP/3 over https if the server supports it, otherwise an earlier version. Needs a libcurl with HTTP/3 "
                + "(see: dlm doctor).",
            .choice(\.network.httpVersion, .http3))
        row(
            &resolve, "resolve", .texts("host:port:addr"),
            "Connect to this address instead of looking up the host; repeatable. Separate several addresses with "
                + "commas: the next address is tried after a failure, or if one is slow.",
            .sets { $0.network.addresses = try $1.flatMap(PinnedAddress.list(argument:)) })
        row(
            &dohUrl, "doh-url", .word("url"), "Look up addresses at this server (DNS over HTTPS).",
            .field(\.network.nameServer))
        row(
            &dnsCacheTime, "dns-cache-time", .value("time"),
            "Cache addresses for this long, and failed lookups for 1 s, then 2 s and so on, up to this long. "
                + "Default: cache addresses for 60 s, and failed lookups not at all.", .seconds(\.network.dnsCacheTime))
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
