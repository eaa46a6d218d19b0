import DownloadKit
import Foundation

/// What was asked for of one download and has no line of its own in `dlm show`: options by their long names, as a list
/// has them (`proxy=http://10.0.0.1:3128`). Secrets are named and not told.
enum GivenOptions {
    static func lines(_ request: DownloadRequest) -> [String] {
        let all = http(request) + identity(request) + trust(request.trust) + network(request.network) + limits(request)
        return (all + times(request) + ends(request)).compactMap { name, value in
            value.map { $0.isEmpty ? name : "\(name)=\($0)" }
        }
    }

    private typealias Options = [(name: String, value: String?)]

    /// A flag has no value.
    private static func flag(_ isSet: Bool?) -> String? { isSet == true ? "" : nil }

    private static func text<T: Equatable>(_ value: T, unless usual: T, _ text: (T) -> String) -> String? {
        value == usual ? nil : text(value)
    }

    private static func seconds(_ value: Double) -> String {
        Int(exactly: value).map { "\($0)s" } ?? "\(value)s"
    }

    private static func http(_ request: DownloadRequest) -> Options {
        let http = request.http
        return [
            ("method", http.method), ("data", http.body.map { _ in "(not stored)" }),
            ("user-agent", http.userAgent.map { $0.isEmpty ? "\"\"" : $0 }),
            ("referer", http.referer.map { $0.isEmpty ? "\"\"" : Redaction.hidden($0) }),
            ("compressed", flag(http.acceptsCompressed)), ("no-hsts", flag(http.upgradesKnownHosts == false)),
            (
                "max-redirects",
                text(request.redirect.limit, unless: RedirectPolicy().limit) { "\($0)" }
            ),
            ("proto", request.redirect.schemes.map { $0.joined(separator: ",") }),
        ]
    }

    private static func identity(_ request: DownloadRequest) -> Options {
        let files = request.secretFiles
        return [
            ("user", request.credential.map(\.user)), ("netrc-file", files.netrc), ("bearer-file", files.bearer),
            ("bearer-command", files.bearerCommand),
            ("cookie-file", files.cookies), ("cookie-jar", files.cookieJar), ("aws-sigv4", request.http.signature),
        ]
            + HTTPAuthentication.allCases.map {
                ($0 == .any ? "anyauth" : $0.rawValue, flag(request.http.authentication == $0))
            }
    }

    private static func trust(_ trust: ServerTrustPolicy) -> Options {
        [
            ("ca-certificate", trust.authorities), ("crl-file", trust.revocations), ("certificate", trust.certificate),
            ("private-key", trust.privateKey), ("pinned-public-key", trust.pinnedKey),
            ("tls-min", trust.minimumTLS?.rawValue), ("known-hosts", trust.knownHosts), ("ssh-key", trust.sshKey),
            ("ssl", flag(trust.ftpTLS == .attempted)), ("ssl-reqd", flag(trust.ftpTLS == .required)),
        ]
    }

    private static func network(_ network: NetworkSettings) -> Options {
        let pinned = network.addresses?.map { ("resolve", "\($0.host):\($0.port):\($0.address)" as String?) } ?? []
        return [
            ("proxy", network.proxy.map { $0.url.isEmpty ? "\"\"" : $0.url }),
            ("proxy-user", network.proxy?.credential.map(\.user)), ("no-proxy", network.noProxy),
            ("interface", network.interface), ("ipv4", flag(network.addressFamily == .ipv4)),
            ("ipv6", flag(network.addressFamily == .ipv6)), ("http1.1", flag(network.httpVersion == .http1)),
            ("http2", flag(network.httpVersion == .http2)), ("doh-url", network.nameServer),
        ] + pinned
    }

    private static func limits(_ request: DownloadRequest) -> Options {
        let (times, usualTimes) = (request.timeouts, DownloadRequest.Timeouts())
        let (retry, usual) = (request.retry, RetryPolicy())
        return [
            ("retries", text(retry.limit, unless: usual.limit) { "\($0)" }),
            ("retry-delay", text(retry.delay, unless: usual.delay, seconds)),
            ("retry-on", retry.statuses?.description),
            ("connect-timeout", text(times.connect, unless: usualTimes.connect, seconds)),
            ("stall-timeout", text(times.stall, unless: usualTimes.stall, seconds)),
            ("max-time", times.total.map(seconds)),
        ]
    }

    private static func times(_ request: DownloadRequest) -> Options {
        let schedule = request.schedule
        let isElsewhere = schedule.map { $0.timeZone != TimeZone.current.identifier } ?? false
        let zone = isElsewhere ? schedule.map { " (\($0.timeZone))" } ?? "" : ""
        return [("at", schedule?.start.map { ShowText.text($0) })]
            + (schedule?.windows ?? []).map { ("window", "\($0)\(zone)") } + [("wait", request.pacing.map(seconds))]
    }

    private static func ends(_ request: DownloadRequest) -> Options {
        let (place, validation) = (request.destination, request.validation)
        return [
            ("if-exists", text(place.ifExists, unless: .fail, \.rawValue)),
            ("no-content-disposition", flag(!place.takesServerName)), ("remote-time", flag(place.keepsRemoteTime)),
            ("continue", flag(place.continues)),
            ("repair", flag(request.repairs)), ("metalink-location", request.location),
            ("no-follow-metalink", flag(!request.followsMetalink)),
            ("checksum-file", request.checksums?.source),
            (
                "expect-type",
                validation.types.isEmpty ? nil : validation.types.map(\.description).joined(separator: ",")
            ),
            ("expect-status", validation.statuses?.description),
            ("max-size", validation.maximumSize.map(String.init)),
            ("on-complete", request.hooks?.onComplete), ("on-error", request.hooks?.onError),
            ("url-command", request.hooks?.urlCommand),
            ("hook-timeout", request.hooks?.timeLimit.map(seconds)),
        ]
    }
}
