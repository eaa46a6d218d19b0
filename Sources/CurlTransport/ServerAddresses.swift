import DownloadCore
import Foundation

/// The lookup of all addresses of a name. libcurl looks names up itself, but does not tell which addresses it has found.
enum ServerAddresses {
    /// Returns the addresses to which the settings allow a connection, as text, in the order of the system (RFC 6724).
    /// Returns none if the lookup fails.
    static func lookUp(_ host: String, _ network: NetworkSettings) async -> [String] {
        // getaddrinfo(3) can take many seconds, so it must not take one of the few threads of Swift's tasks.
        await DispatchQueue.global().run { found(host, network) }
    }

    private static func found(_ host: String, _ network: NetworkSettings) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        hints.ai_family =
            switch network.addressFamily {
            case .ipv4: AF_INET
            case .ipv6: AF_INET6
            case nil: AF_UNSPEC
            }
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        let all = sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { $0.flatMap(text) }
        return all.filter { network.refusesPrivateAddresses != true || !PrivateAddress.contains($0) }
    }

    private static func text(_ found: UnsafeMutablePointer<addrinfo>) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { text in
            let code = getnameinfo(
                found.pointee.ai_addr, found.pointee.ai_addrlen, text.baseAddress, socklen_t(text.count), nil, 0,
                NI_NUMERICHOST)
            return code == 0 ? text.baseAddress.map { String(cString: $0) } : nil
        }
    }
}
