import ArgumentParser
import DownloadKit

/// The proxies of a command's environment, which are copied into downloads that the background session runs. So a
/// download uses the proxies of the command that added it, instead of those in the environment of the session.
struct CarriedProxies: Sendable {
    private let addresses: [String: ProxyAddress]
    private let exceptions: String?

    /// - Throws: `ValidationError` if a variable does not name a usable proxy.
    init(_ environment: [String: String]) throws {
        let proxies = ProxyEnvironment(environment)
        var addresses: [String: ProxyAddress] = [:]
        for scheme in SourceScheme.names {
            guard let named = proxies.proxy(scheme: scheme) else { continue }
            guard let address = try? ProxyAddress(argument: named.value) else {
                throw ValidationError("\(named.variable) is not a usable proxy; correct it, or give --proxy")
            }
            addresses[scheme] = address
        }
        self.addresses = addresses
        exceptions = proxies.exceptions?.value
    }

    /// Returns the requests with the proxies.
    func applied(to requests: RequestList) -> RequestList {
        if addresses.isEmpty { return requests }
        return RequestList(requests.lazy.map(applied))
    }

    private func applied(to request: DownloadRequest) -> DownloadRequest {
        guard request.network.proxy == nil, let address = addresses[request.url.scheme] else { return request }
        var request = request
        request.network.proxy = address
        request.network.noProxy = request.network.noProxy ?? exceptions
        return request
    }
}
