import ArgumentParser
import DownloadKit
import Foundation

/// The options that `get` and `resume` share, because secrets are not stored and other values may change between two
/// runs.
struct RenewableOptions: OptionTable {
    var count = ConnectionOptions()
    var fields = HeaderOptions()
    var body = BodyOptions()
    var credentials = CredentialOptions()
    var cookies = CookieOptions()
    var trust = TrustOptions()
    var network = NetworkOptions()

    mutating func rows(_ row: inout OptionRows) {
        row.group(&count, "How")
        row.group(&fields, "Request")
        row.group(&body, "Request")
        var files = SecretFiles()
        row.change { files = $0.secretFiles }
        row.group(&credentials, "Credentials")
        row.group(&cookies, "Credentials")
        // The files are read now, so that errors in them are reported before the download starts.
        row.change { if $0.secretFiles != files { try LoadedSecrets.check($0.secretFiles) } }
        row.group(&trust, "Trust")
        row.group(&network, "Network")
    }

    /// Asks for the password, and reads the files of the body. Both must happen only once, but the options may be
    /// applied several times.
    mutating func prepare(in context: Context) throws {
        try credentials.askForPassword(in: context)
        try body.prepare()
    }

    /// Returns these options as overrides for a stored request.
    func overrides() throws -> RequestOverrides {
        var given = RequestMaker.blank
        try apply(to: &given)
        var overrides = RequestOverrides()
        overrides.headers = given.headers
        overrides.http.body = given.http.body
        overrides.http.authentication = given.http.authentication
        overrides.http.signature = given.http.signature
        overrides.credential = given.credential
        overrides.secretFiles = given.secretFiles
        overrides.trust = given.trust == .system ? nil : given.trust
        overrides.schemes = given.redirect.schemes
        overrides.network = given.network
        overrides.connections = count.connections
        overrides.acceptsUnverified = given.acceptsUnverified
        (overrides.allowsRollback, overrides.trustsFirstUse) = (given.allowsRollback, given.trustsFirstUse)
        return overrides
    }
}

struct ConnectionOptions: OptionTable {
    var connections: DownloadRequest.Connections?

    mutating func rows(_ row: inout OptionRows) {
        row(
            &connections, "connections", letter: "x", usual: "auto",
            .value("n", completion: .list(["auto", "1", "2", "4", "8", "16"])),
            "Use N connections for each file, 1 to 64. auto adds connections while they make the download faster, at "
                + "most \(SegmentPlanner.automaticLimit), and auto:N at most N. Over FTP and SSH, auto uses 1. "
                + "Default: auto.", .sets { $0.connections = $1 })
    }
}

/// The options of `get` for speed, retries, timeouts, redirects and priority.
struct TransferOptions: OptionTable {
    // The help texts name these defaults, because the parser does not show the defaults of options with a `transform`.
    private static let delay = Seconds(RetryPolicy().delay.inSeconds)
    private static let hostPause = Seconds(RetryPolicy().maximumHostPause.inSeconds)
    private static let connect = Seconds(DownloadRequest.Timeouts().connect.inSeconds)
    private static let stall = Seconds(DownloadRequest.Timeouts().stall.inSeconds)

    var limitRate: ByteRate?
    var retries: Int?
    var retryDelay: Seconds?
    var maxRetryAfter: Seconds?
    var connectTimeout: Seconds?
    var stallTimeout: Seconds?
    var maxRedirects: Int?
    var priority: Int?

    func validate() throws {
        if let retries, !(0...1_000_000).contains(retries) {
            throw ValidationError("--retries \(retries): give 0 or more")
        }
        if let maxRedirects, !(0...1000).contains(maxRedirects) {
            throw ValidationError("--max-redirects \(maxRedirects): give 0 to 1000")
        }
        if connectTimeout?.value == 0 { throw ValidationError("--connect-timeout: give more than 0") }
        if stallTimeout?.value == 0 { throw ValidationError("--stall-timeout: give more than 0") }
    }

    mutating func rows(_ row: inout OptionRows) {
        let (retry, times) = (RetryPolicy(), DownloadRequest.Timeouts())
        row(
            &limitRate, "limit-rate", usual: ByteRate.text(SessionOptions.usual.rateLimit), .value("rate"),
            "Limit each download to this many bytes per second, such as 500k, 2M or 1.5GiB. Default: none.",
            .sets { $0.rateLimit = $1.limit })
        row(
            &retries, "retries", usual: "\(retry.limit)", .word("n"),
            "Retry at most N times; the count starts anew after progress. Default: \(RetryPolicy().limit).",
            .field(\.retry.limit, unless: retry.limit))
        row(
            &retryDelay, "retry-delay", usual: "\(Self.delay)", .value("time"),
            "Wait this long before the first retry. Each further wait is twice as long as the one before it, up to "
                + "60 s. Default: \(Self.delay).", .seconds(\.retry.delay.inSeconds, unless: retry.delay.inSeconds))
        row.change { if retryDelay != nil { $0.retry.maximumDelay = max($0.retry.maximumDelay, $0.retry.delay) } }
        row(
            &maxRetryAfter, "max-retry-after", usual: "\(Self.hostPause)", .value("time"),
            "Keep other downloads from the same server waiting for at most this long when the server asks for a "
                + "pause (Retry-After). Default: \(Self.hostPause).",
            .seconds(\.retry.maximumHostPause.inSeconds, unless: retry.maximumHostPause.inSeconds))
        row(
            &connectTimeout, "connect-timeout", usual: "\(Self.connect)", .value("time"),
            "Give up a connection attempt after this long, including name lookup and TLS. Default: \(Self.connect).",
            .seconds(\.timeouts.connect.inSeconds, unless: times.connect.inSeconds))
        row(
            &stallTimeout, "stall-timeout", usual: "\(Self.stall)", .value("time"),
            "Cut a connection that receives no bytes for this long, and retry. Default: \(Self.stall).",
            .seconds(\.timeouts.stall.inSeconds, unless: times.stall.inSeconds))
        row(
            &maxRedirects, "max-redirects", usual: "\(RedirectPolicy().limit)", .word("n"),
            "Follow at most N redirects. Default: \(RedirectPolicy().limit).",
            .field(\.redirect.limit, unless: RedirectPolicy().limit))
        row(
            &priority, "priority", usual: "0", .word("n", parsing: .unconditional),
            "Start before downloads with a lower number. Default: 0.", .sets { $0.priority = $1 })
    }
}

struct ProbeOptions: OptionTable {
    private var fields = HeaderOptions()
    private var credentials = CredentialOptions()
    private var cookies = CookieOptions()
    private var trust = TrustOptions()
    private var network = NetworkOptions()

    mutating func prepare(in context: Context) throws { try credentials.askForPassword(in: context) }

    mutating func rows(_ row: inout OptionRows) {
        row.group(&fields, "Request")
        row.group(&credentials, "Credentials")
        row.group(&cookies, "Credentials")
        row.group(&trust, "Trust")
        row.group(&network, "Network")
    }
}
