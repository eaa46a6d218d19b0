import DownloadKit

/// The name of a setting: that of the long option which overrides it, where there is one.
enum SettingsKey: String, CaseIterable {
    case historyAge = "history-age"
    case maxConcurrent = "max-concurrent"
    case maxPerHost = "max-per-host"
    case limitRate = "limit-rate"
    case connections
    case retries
    case retryDelay = "retry-delay"
    case connectTimeout = "connect-timeout"
    case stallTimeout = "stall-timeout"
    case maxRedirects = "max-redirects"

    /// What holds where nobody sets it, as it would be written.
    var standard: String {
        let session = SessionConfiguration(kind: .foreground, stateFolder: "")
        let (retry, timeouts) = (RetryPolicy(), DownloadRequest.Timeouts())
        return switch self {
        case .historyAge: session.historyAge.map { Seconds($0).description } ?? "none"
        case .maxConcurrent: String(session.maxConcurrent)
        case .maxPerHost: String(session.maxPerHost)
        case .limitRate: ByteRate.text(session.rateLimit)
        case .connections: "auto"
        case .retries: String(retry.limit)
        case .retryDelay: Seconds(retry.delay).description
        case .connectTimeout: Seconds(timeouts.connect).description
        case .stallTimeout: Seconds(timeouts.stall).description
        case .maxRedirects: String(RedirectPolicy().limit)
        }
    }

    /// In the environment.
    var variable: String { "DLM_" + rawValue.uppercased().replacing("-", with: "_") }

    /// The one that was probably meant.
    static func nearest(to word: String) -> SettingsKey? {
        // Far longer than any key: the comparison would only take its time.
        guard word.count <= 64 else { return nil }
        let distances = allCases.map { ($0, UnknownCommand.distance(word, $0.rawValue)) }
        guard let (key, distance) = distances.min(by: { $0.1 < $1.1 }),
            distance <= max(1, min(word.count, key.rawValue.count) / 2)
        else { return nil }
        return key
    }
}

/// A value as somebody wrote it.
struct SettingsEntry: Equatable {
    let key: SettingsKey
    let text: String
    let origin: Origin

    enum Origin: Equatable {
        /// Path and line.
        case file(String)
        case environment
    }

    /// For messages: the file with the line and the key, or the variable.
    var place: String {
        switch origin {
        case .file(let place): "\(place): \(key.rawValue)"
        case .environment: key.variable
        }
    }

    /// Those in the environment. An empty variable is as good as none; others that begin with `DLM_` are not ours.
    static func entries(_ environment: [String: String]) -> [SettingsEntry] {
        SettingsKey.allCases.compactMap { key in
            guard let text = environment[key.variable], !text.isEmpty else { return nil }
            return SettingsEntry(key: key, text: text, origin: .environment)
        }
    }
}
