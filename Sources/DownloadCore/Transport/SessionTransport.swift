/// The transport that a session uses in place of the network. `DownloadKitTesting` makes such values for tests.
public struct SessionTransport: Sendable {
    /// Makes the transport when the first download of a session needs it.
    package let make: @Sendable () -> any Transport

    package init(_ make: @escaping @Sendable () -> any Transport) { self.make = make }
}

/// The network of a session with another transport, which does not depend on the networks of this machine.
package struct SteadyNetwork: LocalNetwork {
    package init() {}

    package func hasChanged() -> Bool { false }
    package func usableAddresses() -> Set<String>? { nil }
    package func reaches(_ address: String, from source: NetworkPath.Source?) -> Bool? { true }
    package func has(_ source: NetworkPath.Source) -> Bool { true }
    package func nameServers() -> [String] { [] }
    package func timeAsleep() -> Duration { .zero }
}
