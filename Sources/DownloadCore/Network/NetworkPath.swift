import Foundation

/// The known facts about the network path to a download's server. They decide for which address the kernel is asked for
/// a route.
package struct NetworkPath: Sendable, Hashable {
    /// The interface or address that packets must be sent from, if the request names one.
    package enum Source: Sendable, Hashable {
        case interface(String)
        case address(String)
    }

    /// The address of the server or its proxy. Nil while only a name is known.
    package let address: String?
    package let source: Source?
    /// Whether the path stays within this machine.
    package let isLocal: Bool
    /// Whether an attempt already had a connection. Then the source that packets must be sent from existed.
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
        // The last address may belong to a redirect that is not followed any more. The next attempt finds that out.
        let last = record.attempts.last?.metrics?.remoteAddress ?? connected
        let proxy = request.network.proxy.flatMap { URLComponents(string: $0.url)?.host }
        let host = proxy ?? request.network.pinned(for: record.source).first ?? record.source.host
        self.init(
            address: last ?? Self.address(host),
            source: request.network.interface.map { Self.address($0) == nil ? .interface($0) : .address($0) },
            isLocal: host == "localhost" || host.hasSuffix(".localhost"), hasWorked: connected != nil)
    }

    /// Returns the text without the brackets of a URL if it is a numeric address, else nil.
    static func address(_ text: String) -> String? {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        return family(bare) == nil ? nil : bare
    }

    /// Returns the address family of a numeric address, or nil for any other text.
    package static func family(_ text: String) -> Int32? {
        var address = in6_addr()
        return [AF_INET, AF_INET6].first { inet_pton($0, text, &address) == 1 }
    }

    package static func isLoopback(_ address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }
}

/// The decision whether this machine's network is down. It uses the kernel's tables and does not ask the server.
package enum NetworkOutage {
    /// For each address family, an address that is reserved for documentation (RFC 5737, RFC 3849). A route to this
    /// address exists only if there is a default route.
    private static let anywhere = [AF_INET: "203.0.113.1", AF_INET6: "2001:db8::1"]

    /// Returns whether the path is down. If the kernel does not say whether there is a route, returns false.
    package static func isDown(_ path: NetworkPath, _ network: some LocalNetwork) -> Bool {
        if path.isLocal { return false }
        if let source = path.source, !network.has(source) {
            // If no attempt ever had a connection, the interface or address is probably a mistake of the user.
            return path.hasWorked
        }
        func reaches(_ address: String) -> Bool { network.reaches(address, from: path.source) ?? true }
        func reachesWorld(_ family: Int32) -> Bool { anywhere[family].map(reaches) ?? false }
        if let address = path.address {
            if reaches(address) { return false }
            // If only the other family has a route and no attempt ever connected, the server may stay out of reach.
            // Waiting would not help.
            let other = NetworkPath.family(address) == AF_INET ? AF_INET6 : AF_INET
            return !reachesWorld(other) || path.hasWorked
        }
        // A resolver on this machine must itself ask other name servers, so it does not prove a route.
        let servers = network.nameServers().filter { !NetworkPath.isLoopback($0) }
        return !servers.contains(where: reaches) && !reachesWorld(AF_INET) && !reachesWorld(AF_INET6)
    }
}

/// The detection of a suspended machine. Connections from before the sleep are dead, even if the kernel still keeps
/// them.
package struct SleepWatch: Sendable {
    /// Connections are given up only after a sleep longer than this. Servers and routers rarely forget a connection
    /// sooner.
    static let harmless = Duration.seconds(5)
    private var last: Duration?

    package init() {}

    /// Returns whether the machine has slept for longer than ``harmless`` since the last call.
    /// - Parameter total: How long the machine has slept since it was started.
    package mutating func hasSlept(_ total: Duration) -> Bool {
        defer { last = total }
        return last.map { total - $0 > Self.harmless } ?? false
    }
}
