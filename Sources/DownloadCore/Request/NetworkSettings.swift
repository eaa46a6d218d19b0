/// The way to the server. Nil is what was not asked for.
public struct NetworkSettings: Codable, Sendable, Equatable {
    /// Nil: what the environment says.
    public var proxy: ProxyAddress?
    /// Hosts that are asked without the proxy, as in `no_proxy`; nil: what the environment says.
    public var noProxy: String?
    /// An interface, or an address of this machine, to send from.
    public var interface: String?
    /// The only version of the Internet Protocol to use.
    public var addressFamily: AddressFamily?
    /// The version of HTTP to use.
    public var httpVersion: HTTPVersion?
    /// Where to connect in place of what name resolution says.
    public var addresses: [PinnedAddress]?
    /// Asked for addresses (RFC 8484) in place of the system.
    public var nameServer: String?
    /// Seconds for which addresses are kept, and for which names that were not found are not looked up again.
    public var dnsCacheTime: Double?
    /// True: no connection is made to an address of this machine, a private network or a single link, wherever a redirect or
    /// name resolution leads.
    public var refusesPrivateAddresses: Bool?

    /// Makes settings that ask for nothing.
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
        /// Over https, where the server has it.
        case http2 = "2"
    }

    /// Of several addresses for one host and port, an attempt uses the first: each has another turn. Nil: nothing is
    /// different in this one.
    func turned(_ turn: Int) -> NetworkSettings? {
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

    /// What the other one names counts.
    mutating func take(_ other: NetworkSettings) {
        proxy = other.proxy ?? proxy
        noProxy = other.noProxy ?? noProxy
        interface = other.interface ?? interface
        addressFamily = other.addressFamily ?? addressFamily
        httpVersion = other.httpVersion ?? httpVersion
        addresses = other.addresses ?? addresses
        nameServer = other.nameServer ?? nameServer
        dnsCacheTime = other.dnsCacheTime ?? dnsCacheTime
        refusesPrivateAddresses = other.refusesPrivateAddresses ?? refusesPrivateAddresses
    }
}

/// A host and port that are at this address, whatever name resolution says.
public struct PinnedAddress: Codable, Sendable, Equatable {
    /// `*` for any.
    public let host: String
    /// The port that it is for.
    public let port: Int
    /// An IPv6 address in brackets.
    public let address: String

    /// Makes a fixed address.
    public init(host: String, port: Int, address: String) {
        self.host = host
        self.port = port
        self.address = address
    }
}

/// A proxy. The password for it is never stored.
public struct ProxyAddress: Codable, Sendable, Equatable {
    /// Without user and password; empty for no proxy at all.
    public let url: String
    /// The name and password for the proxy.
    public var credential: Credential?

    /// Makes a proxy.
    public init(url: String, credential: Credential? = nil) {
        self.url = url
        self.credential = credential
    }
}
