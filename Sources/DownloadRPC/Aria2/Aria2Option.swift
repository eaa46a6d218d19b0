/// An option of aria2, and what dlm makes of it. ``Aria2Option/all`` is the one table; docs/aria2.md is made from it.
struct Aria2Option: Sendable {
    /// What an option that dlm knows is about.
    enum Effect: Sendable {
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

    enum Use: Sendable {
        /// It does what it does in aria2.
        case meant(Effect)
        /// It is taken, and changes nothing.
        case ignored
        /// It is an error.
        case refused
    }

    let name: String
    let use: Use
    /// The value that aria2's clients are shown where nobody has set one; nil: none.
    let standard: String?
    /// Why, or what is different from aria2.
    let reason: String

    init(_ name: String, _ effect: Effect, _ standard: String? = nil, _ reason: String = "") {
        (self.name, self.standard, self.reason) = (name, standard, reason)
        use = .meant(effect)
    }

    init(ignored name: String, _ standard: String?, _ reason: String) {
        (self.name, self.standard, self.reason) = (name, standard, reason)
        use = .ignored
    }

    init(refused name: String, _ reason: String) {
        (self.name, self.reason) = (name, reason)
        standard = nil
        use = .refused
    }

    var effect: Effect? { if case .meant(let effect) = use { effect } else { nil } }
    var isRefused: Bool { if case .refused = use { true } else { false } }

    /// Of the whole session, and not of a download.
    var isGlobal: Bool {
        switch effect {
        case .overallRateLimit, .concurrentDownloads: true
        default: false
        }
    }

    /// By name; what is not here is unknown to aria2, which ignores it.
    static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }

    /// What `getGlobalOption` answers where nothing is set.
    static let standards: [String: String] = byName.compactMapValues(\.standard)
}
