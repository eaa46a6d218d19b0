import ArgumentParser
import DownloadKit

/// The proxies of a command's environment, which are copied into downloads of the background session. So the session
/// uses them instead of those in its own environment.
struct CarriedProxies: Sendable {
    private let addresses: [String: ProxyAddress]
    private let exceptions: String?

    init(_ environment: [String: String]) throws {
        let proxies = ProxyEnvironment(environment)
        var addresses: [String: ProxyAddress] = [:]
        for scheme in SourceScheme.names {
            guard let named = proxies.proxy(scheme: scheme) else { continue }
            do throws(ProxyAddress.ParseError) { addresses[scheme] = try ProxyAddress.parse(named.value) } catch {
                // The text may contain a password, so the message does not repeat the text.
                throw ValidationError("\(named.variable): \(error.words); correct it, or give --proxy")
            }
        }
        self.addresses = addresses
        exceptions = proxies.exceptions?.value
    }

    func applied(to requests: RequestList) -> RequestList {
        if addresses.isEmpty { return requests }
        return RequestList(requests.lazy.map(applied))
    }

    func applied(to request: DownloadRequest) -> DownloadRequest {
        guard request.network.proxy == nil, let address = addresses[request.url.scheme] else { return request }
        var request = request
        request.network.proxy = address
        request.network.noProxy = request.network.noProxy ?? exceptions
        return request
    }
}
