/// The transport that a session uses in place of the network. `DownloadKitTesting` makes such values for tests.
public struct SessionTransport: Sendable {
    /// Makes the transport when the first download of a session needs it.
    package let make: @Sendable () -> any Transport

    package init(_ make: @escaping @Sendable () -> any Transport) { self.make = make }
}
