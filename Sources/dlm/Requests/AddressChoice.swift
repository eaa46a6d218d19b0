import ArgumentParser
import DownloadKit
import Glibc

/// The choice between https and http for URLs that are typed without a scheme. A message tells the user the choice.
struct AddressChoice {
    let maker: RequestMaker
    let context: Context
    let isQuiet: Bool

    private static let schemes = ["https", "http"]

    /// Returns the URLs, each with a scheme. URLs that have a scheme already are not changed.
    func urls(_ texts: [String]) async throws -> [String] {
        var known: [String: Choice] = [:]
        var urls: [String] = []
        for text in texts {
            // The user probably means the file instead of a host.
            if !text.isEmpty, !text.contains("://"), access(text, F_OK) == 0 {
                throw ValidationError(
                    "\(text): this is a file, not a URL; to download the URLs in the file, run: dlm get -i FILE")
            }
            guard let address = SchemelessAddress(text) else {
                urls.append(text)
                continue
            }
            let host = "\(address.host):\(address.port ?? 0)"
            let choice = if let choice = known[host] { choice } else { try await choice(for: address) }
            known[host] = choice
            let url = "\(choice.scheme)://\(address.text)"
            if !isQuiet { context.console.report("\(choice.reason); using \(url)") }
            urls.append(url)
        }
        return urls
    }

    private typealias Choice = (scheme: String, reason: String)

    private func choice(for address: SchemelessAddress) async throws -> Choice {
        let requests = try Self.schemes.compactMap { scheme -> DownloadRequest? in
            do {
                return try maker.request("\(scheme)://\(address.text)")
            } catch DownloadError.requestInvalid(.schemeNotAllowed) {
                return nil
            }
        }
        let schemes = address.schemes(allowed: requests.map(\.url.scheme))
        guard let request = requests.first(where: { $0.url.scheme == schemes[0] }) else {
            // Neither scheme is allowed. The error is thrown later, when the request is made from the URL.
            return (scheme: Self.schemes[0], reason: "no scheme given")
        }
        let showsSecrets =
            request.showsSecrets || !Redaction.secrets(in: Array(request.url.string.utf8)).isEmpty
        let isSecret = !address.isLoopback && showsSecrets
        if schemes == ["http"], isSecret {
            throw ValidationError(
                "\(address.host): the URL has no scheme, and dlm does not send secrets over http without being asked; "
                    + "write https:// or http:// before the host")
        }
        guard schemes.count > 1, !isSecret else { return (scheme: schemes[0], reason: "no scheme given") }
        guard let error = await Self.failure(of: request, context), PlainFallback.isAllowed(after: error) else {
            return (scheme: "https", reason: "no scheme given")
        }
        return (scheme: "http", reason: "no scheme given, and the server has no https")
    }

    /// Sends `HEAD /` over https, and returns the error, or nil if the server answers. Neither the path nor credentials
    /// nor the user's header fields are sent, so that a link that works only once still works.
    private static func failure(of request: DownloadRequest, _ context: Context) async -> DownloadError? {
        let root = "https://\(request.url.host)" + (request.url.port == 443 ? "/" : ":\(request.url.port)/")
        guard let (url, _) = try? RequestMaker.address(root).get() else { return nil }
        var question = DownloadRequest(url: url, destination: request.destination)
        question.network = request.network
        question.trust = request.trust
        question.timeouts = request.timeouts
        question.timeouts.stall = min(question.timeouts.stall, .seconds(5))
        question.http.method = "HEAD"
        question.http.userAgent = request.http.userAgent
        question.http.upgradesKnownHosts = request.http.upgradesKnownHosts
        question.retry.limit = 0
        question.redirect.limit = 0
        do {
            _ = try await context.fetch(question, 1, context.environment, context.time)
            return nil
        } catch {
            return error as? DownloadError
        }
    }
}

/// The decision whether http may be tried after https failed, for a URL that was given without a scheme.
enum PlainFallback {
    /// Returns whether http may be tried. This is true only if no TLS connection was possible. A server whose
    /// certificate is refused, or that answers at all, supports https.
    static func isAllowed(after error: DownloadError) -> Bool {
        switch error {
        case .networkFailed(.connect, let diagnosis):
            // This machine has no route to the server. http would not help, and the download waits for the network.
            return ![Int32(ENETUNREACH), Int32(EHOSTUNREACH), Int32(ENETDOWN)].contains(diagnosis.errno)
        case .networkFailed(.timedOut, let diagnosis):
            return ["Connection timed out", "Connection timeout", "SSL connection timeout", "Failed to connect"]
                .contains { diagnosis.message.hasPrefix($0) }
        case .networkFailed(.connectionLost, let diagnosis):
            // If a server without TLS closes the connection, libcurl's message has the name of the TLS call.
            return ["SSL_ERROR_SYSCALL", "SSL_connect", "unexpected eof", "Connection reset by peer in connection"]
                .contains { diagnosis.message.contains($0) }
        case .trustFailed(let diagnosis):
            return ["wrong version number", "packet length too long", "unknown protocol", "http request"]
                .contains { diagnosis.message.contains($0) }
        default: return false
        }
    }
}
