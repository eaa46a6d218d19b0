import DownloadCore
import Foundation
import Glibc
import NIOCore

/// A gate that compares tokens with the secret, and makes guessing slow. The answer to a wrong token is delayed by a
/// second. After 20 different wrong tokens in a minute, a client is refused without a comparison until the minute is
/// over. The same wrong token again is no guess: it comes from a program or a page that has an old secret, and must not
/// lock out the others at its address.
actor SecretGate {
    enum Verdict: Sendable { case granted, refused, tooMany }

    private struct Guesses {
        /// The hash values of the wrong tokens.
        var tokens: Set<Int> = []
        let until: ContinuousClock.Instant
    }

    private let secret: RPCSecret
    private let time: any TimeSource
    private var guesses: [String: Guesses] = [:]

    static let delay = Duration.seconds(1)
    static let wrongOnes = 20
    static let span = Duration.seconds(60)
    /// The greatest number of clients whose guesses are counted separately.
    private static let most = 1000

    init(_ secret: RPCSecret, time: any TimeSource) {
        self.secret = secret
        self.time = time
    }

    /// Judges the token of a request.
    /// - Parameters:
    ///   - token: The token; nil if the request has none. A request without a token is refused after the delay, but is
    ///     not counted as a guess.
    ///   - other: Another token that is also accepted.
    func judge(_ token: String?, from client: String, or other: String? = nil) async -> Verdict {
        guard let token else { return await refuse() }
        let now = time.now
        let known = guesses[client].flatMap { $0.until > now ? $0 : nil }
        if let known, known.tokens.count >= Self.wrongOnes { return .tooMany }
        let isOther = other.map { RPCSecret(text: $0).matches(token) } ?? false
        if secret.matches(token) || isOther { return .granted }
        if guesses.count >= Self.most { guesses = guesses.filter { $0.value.until > now } }
        // If the greatest number of clients is counted already, all new clients share one count.
        let client = guesses.count < Self.most || known != nil ? client : ""
        let previous = known ?? guesses[client].flatMap { $0.until > now ? $0 : nil }
        var counted = previous ?? Guesses(until: now + Self.span)
        counted.tokens.insert(token.hashValue)
        guesses[client] = counted
        return await refuse()
    }

    private func refuse() async -> Verdict {
        // Only the end of the server ends the sleep early.
        try? await time.sleep(for: Self.delay)
        return .refused
    }

    /// Returns the key under which the guesses of a client are counted. It is the IPv4 address, or the /64 network of
    /// the IPv6 address, because one client may use many IPv6 addresses.
    static func client(_ peer: SocketAddress?) -> String {
        guard let address = peer?.ipAddress else { return "local" }
        var six = in6_addr()
        guard inet_pton(AF_INET6, String(address.prefix { $0 != "%" }), &six) == 1 else { return address }
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        if isMapped { return bytes[12...].map { "\($0)" }.joined(separator: ".") }
        return bytes.prefix(8).hexadecimal
    }
}
