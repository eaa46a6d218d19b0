import Foundation

/// Where the packets of a download go, as far as is known: what to ask the kernel for a route to.
package struct NetworkPath: Sendable, Hashable {
    /// What they are to be sent from, if that was asked for.
    package enum Source: Sendable, Hashable {
        case interface(String)
        case address(String)
    }

    /// Of the server or its proxy; nil while only a name is known.
    package let address: String?
    package let source: Source?
    /// It stays within this machine.
    package let isLocal: Bool
    /// An attempt had a connection: what it was to be sent from was there.
    package let hasWorked: Bool

    package init(address: String?, source: Source? = nil, isLocal: Bool = false, hasWorked: Bool = false) {
        self.address = address
        self.source = source
        self.isLocal = isLocal || address.map(Self.isLoopback) ?? false
        self.hasWorked = hasWorked
    }

    package init(_ record: DownloadRecord) {
        let request = record.request
        let connected = record.attempts.last { $0.metrics?.remoteAddress != nil }?.metrics?.remoteAddress
        // The last one may be behind a redirect that is not followed any more: then the next attempt finds that out.
        let last = record.attempts.last?.metrics?.remoteAddress ?? connected
        let proxy = request.network.proxy.flatMap { URLComponents(string: $0.url)?.host }
        let pinned = request.network.addresses?.first { address in
            [record.source.host, "*"].contains(address.host) && address.port == record.source.port
        }
        let host = proxy ?? pinned?.address ?? record.source.host
        self.init(
            address: last ?? Self.address(host),
            source: request.network.interface.map { Self.address($0) == nil ? .interface($0) : .address($0) },
            isLocal: host == "localhost" || host.hasSuffix(".localhost"), hasWorked: connected != nil)
    }

    /// The text, when it is a numeric address; without the brackets of a URL.
    private static func address(_ text: String) -> String? {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        return family(bare) == nil ? nil : bare
    }

    static func family(_ text: String) -> Int32? {
        var address = in6_addr()
        return [AF_INET, AF_INET6].first { inet_pton($0, text, &address) == 1 }
    }

    package static func isLoopback(_ address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }
}

/// Whether it is this machine's network that is down, whatever the server: decided by what the kernel says.
package enum NetworkOutage {
    /// Somewhere in the world, of each family: a route there is one to anywhere (RFC 5737, RFC 3849).
    private static let anywhere = [AF_INET: "203.0.113.1", AF_INET6: "2001:db8::1"]

    /// What the kernel does not tell is no outage.
    package static func isDown(_ path: NetworkPath, _ network: some LocalNetwork) -> Bool {
        if path.isLocal { return false }
        if let source = path.source, !network.has(source) {
            // One that never was there is a mistake.
            return path.hasWorked
        }
        func reaches(_ address: String) -> Bool { network.reaches(address, from: path.source) ?? true }
        func reachesWorld(_ family: Int32) -> Bool { anywhere[family].map(reaches) ?? false }
        if let address = path.address {
            if reaches(address) { return false }
            // A server that speaks only the other family is out of reach for ever.
            let other = NetworkPath.family(address) == AF_INET ? AF_INET6 : AF_INET
            return !reachesWorld(other) || path.hasWorked
        }
        // A resolver on this machine has to ask elsewhere.
        let servers = network.nameServers().filter { !NetworkPath.isLoopback($0) }
        return !servers.contains(where: reaches) && !reachesWorld(AF_INET) && !reachesWorld(AF_INET6)
    }
}

/// Notices that the machine slept: what was connected then is dead, whatever the kernel still believes of it.
package struct SleepWatch: Sendable {
    /// Servers and the routers on the way hardly forget a connection within so short a time.
    static let harmless = Duration.seconds(5)
    private var last: Duration?

    package init() {}

    /// - Parameter total: how long it has slept since it was started.
    package mutating func hasSlept(_ total: Duration) -> Bool {
        defer { last = total }
        return last.map { total - $0 > Self.harmless } ?? false
    }
}
