/// The settings for the way to the server. Nil stands for the default.
public struct NetworkSettings: Codable, Sendable, Equatable {
    /// The proxy; nil to use the proxies of the environment.
    public var proxy: ProxyAddress?
    /// The hosts that are asked without the proxy, in the form of `no_proxy`; nil to use the environment's.
    public var noProxy: String?
    /// The interface, or the address of this machine, from which connections are made.
    public var interface: String?
    /// The only version of the Internet Protocol to use.
    public var addressFamily: AddressFamily?
    /// The version of HTTP to use.
    public var httpVersion: HTTPVersion?
    /// Addresses to connect to, instead of those from name resolution.
    public var addresses: [PinnedAddress]?
    /// The URL of a name server (DNS over HTTPS, RFC 8484), which replaces the system's name resolution.
    public var nameServer: String?
    /// The time in seconds for which the addresses of a name are kept. A name that was not found is looked up again
    /// after this time at the latest.
    public var dnsCacheTime: Double?
    /// Whether connections to addresses of this machine, of private networks and of single links are refused, also
    /// after redirects and name resolution.
    package var refusesPrivateAddresses: Bool?

    /// Creates settings with all defaults.
    public init() {}

    /// A version of the Internet Protocol.
    public enum AddressFamily: String, Codable, Sendable {
        /// The version of this name.
        case ipv4, ipv6
    }

    /// A version of HTTP.
    public enum HTTPVersion: String, Codable, Sendable {
        /// HTTP/1.1.
        case http1 = "1.1"
        /// HTTP/2 over https, if the server supports it.
        case http2 = "2"
        /// HTTP/3 (RFC 9114) over https, if the server and libcurl support it, otherwise an earlier version.
        case http3 = "3"
    }

    /// Returns the settings for an attempt. If there are several addresses for one host and port, each attempt begins
    /// with another address. Returns nil if nothing changes.
    package func turned(_ turn: Int) -> NetworkSettings? {
        guard let addresses, addresses.count > 1, turn > 0 else { return nil }
        var turned = self
        var rest = addresses
        turned.addresses = []
        while let first = rest.first {
            let same = rest.filter { $0.host == first.host && $0.port == first.port }
            rest.removeAll { $0.host == first.host && $0.port == first.port }
            turned.addresses? += same[(turn % same.count)...] + same[..<(turn % same.count)]
        }
        return turned
    }

    /// Returns the addresses to connect to for a URL, instead of those from name resolution.
    package func pinned(for url: SourceURL) -> [String] {
        (addresses ?? []).filter { ["*", url.host].contains($0.host) && $0.port == url.port }.map(\.address)
    }

    /// Replaces the address to connect to for a URL.
    /// - Parameter address: The address. An IPv6 address may be in brackets.
    package mutating func connect(to address: String, for url: SourceURL) {
        let isBare = address.contains(":") && !address.hasPrefix("[")
        let pinned = PinnedAddress(host: url.host, port: url.port, address: isBare ? "[\(address)]" : address)
        addresses = [pinned] + (addresses ?? [])
    }

    /// Replaces the settings that `other` gives.
    mutating func take(_ other: NetworkSettings) {
        replace(
            in: &self, with: other, \.proxy, \.noProxy, \.interface, \.addressFamily, \.httpVersion, \.addresses,
            \.nameServer, \.dnsCacheTime, \.refusesPrivateAddresses)
    }
}

/// An address for a host and port, which replaces the address from name resolution.
public struct PinnedAddress: Codable, Sendable, Equatable {
    /// The host; `*` for any host.
    public let host: String
    /// The port.
    public let port: Int
    /// The address. An IPv6 address is in brackets.
    public let address: String

    /// Makes a fixed address.
    public init(host: String, port: Int, address: String) {
        self.host = host
        self.port = port
        self.address = address
    }
}
