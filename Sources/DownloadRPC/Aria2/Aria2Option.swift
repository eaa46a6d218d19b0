/// An option of aria2, and its effect in dlm. ``Aria2Option/all`` is the table of all options, which docs/aria2.md
/// explains.
struct Aria2Option: Sendable {
    /// The effect of an option that dlm follows.
    enum Effect: Sendable, Equatable {
        case directory, name, identifier, startsPaused
        case connectionsPerServer, split
        case rateLimit, retries, retryDelay, connectTimeout, stallTimeout
        case header, userAgent, referer, acceptsCompressed
        case userName(isHTTP: Bool)
        case password(isHTTP: Bool)
        case proxy, proxyUser, proxyPassword, noProxy
        case checksum, verifiesServer, minimumTLS, followsMetalink, location
        case renames, overwrites, conditional, continues, remoteTime
        case overallRateLimit, concurrentDownloads
    }

    enum Use: Sendable, Equatable {
        /// The option has the same effect as in aria2, except for the differences in docs/aria2.md.
        case meant(Effect)
        /// The option is accepted without effect, for the reason in docs/aria2.md.
        case ignored
        /// A call with the option is answered with an error.
        case refused(reason: String)
    }

    let name: String
    let use: Use
    /// The default value that clients are shown; nil if there is none.
    let standard: String?

    var effect: Effect? { if case .meant(let effect) = use { effect } else { nil } }

    func requirePermitted() throws(RPCError) {
        if case .refused(let reason) = use { throw RPCError("The option '\(name)' is refused: \(reason)") }
    }

    /// The options by name. Other names are ignored, as aria2 ignores unknown options.
    static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }

    /// The values that `getGlobalOption` answers for options that nobody has set.
    static let standards: [String: String] = byName.compactMapValues(\.standard)
}

extension Aria2Option {
    init(_ name: String, _ effect: Effect, _ standard: String? = nil) {
        self.init(name: name, use: .meant(effect), standard: standard)
    }
}
