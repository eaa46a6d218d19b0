/// The kernel's view of this machine's network.
package protocol LocalNetwork: Sendable {
    /// Returns whether links, addresses or routes have changed since the last call. The first call begins the watch and
    /// returns true.
    func hasChanged() -> Bool
    /// Returns the addresses of interfaces that are up and have a carrier. Nil if the addresses cannot be read.
    func usableAddresses() -> Set<String>?
    /// Returns whether there is a route to the address over an interface that is up and has a carrier. Nil if the
    /// routes cannot be read.
    func reaches(_ address: String, from source: NetworkPath.Source?) -> Bool?
    /// Returns whether this machine has the interface, or the address among ``usableAddresses()``. Returns true if the
    /// addresses cannot be read.
    func has(_ source: NetworkPath.Source) -> Bool
    /// Returns the addresses of the name servers (resolv.conf(5)).
    func nameServers() -> [String]
    /// Returns how long this machine has slept since it was started.
    func timeAsleep() -> Duration
}
