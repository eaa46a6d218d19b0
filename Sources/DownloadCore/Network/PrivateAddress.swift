import Foundation

/// Addresses that are not in the public internet: addresses of this machine, of private networks and of a single link,
/// multicast addresses, and reserved addresses (RFC 6890), but not those for documentation.
package enum PrivateAddress {
    /// The reason why a connection to such an address is refused.
    package static let refusal = "this machine, or in a private network"

    /// Returns whether a text is a numeric address that is not in the public internet. The text may have a zone
    /// (`fe80::1%eth0`) or brackets. Returns false for a name.
    package static func contains(_ text: String) -> Bool {
        let text = text.trimmingCharacters(in: CharacterSet(charactersIn: "[]")).prefix { $0 != "%" }
        var four = in_addr()
        if inet_pton(AF_INET, String(text), &four) == 1 { return withUnsafeBytes(of: four) { isPrivate4($0) } }
        var six = in6_addr()
        if inet_pton(AF_INET6, String(text), &six) == 1 { return withUnsafeBytes(of: six) { isPrivate6($0) } }
        return false
    }

    private static func isPrivate4(_ bytes: some Collection<UInt8>) -> Bool {
        let parts = Array(bytes)
        return switch (parts[0], parts[1], parts[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): true
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _), (192, 0, 0): true
        default: false
        }
    }

    private static func isPrivate6(_ bytes: some Collection<UInt8>) -> Bool {
        let parts = Array(bytes)
        if parts[0] & 0xFE == 0xFC || parts[0] == 0xFE && parts[1] & 0x80 != 0 || parts[0] == 0xFF { return true }
        // The unspecified address, loopback, and IPv6 addresses that contain an IPv4 address (RFC 4291, 6052, 3056).
        if parts[..<10].allSatisfy({ $0 == 0 }) {
            return parts[10] == 0xFF && parts[11] == 0xFF ? isPrivate4(parts[12...]) : parts[10] == 0 && parts[11] == 0
        }
        if parts[..<12] == [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] { return isPrivate4(parts[12...]) }
        return parts[0] == 0x20 && parts[1] == 0x02 && isPrivate4(parts[2..<6])
    }
}
