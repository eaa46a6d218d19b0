import ArgumentParser
import DownloadKit

/// The proxies of a command's environment, for downloads that another process runs: it is to go the ways of whoever
/// asked, and not of whoever happened to start it.
struct CarriedProxies: Sendable {
    private let addresses: [String: ProxyAddress]
    private let exceptions: String?

    /// - Throws: where a variable names no proxy that can be used.
    init(_ environment: [String: String]) throws {
        let proxies = ProxyEnvironment(environment)
        var addresses: [String: ProxyAddress] = [:]
        for scheme in SourceScheme.names {
            guard let named = proxies.proxy(scheme: scheme) else { continue }
            guard let address = try? ProxyAddress(argument: named.value) else {
                throw ValidationError("\(named.variable) names no proxy that can be used; correct it, or give --proxy")
            }
            addresses[scheme] = address
        }
        self.addresses = addresses
        exceptions = proxies.exceptions?.value
    }

    func apply(to request: inout DownloadRequest) {
        guard request.network.proxy == nil, let address = addresses[request.url.scheme] else { return }
        request.network.proxy = address
        request.network.noProxy = request.network.noProxy ?? exceptions
    }
}
