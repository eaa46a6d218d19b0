import DownloadKit
import Foundation

/// The findings from one request for a URL.
struct RequestFindings {
    let probed: ProbedRequest
    let proxies: ProxyEnvironment

    var findings: [Finding] {
        var findings: [Finding] = []
        for (index, step) in probed.steps.enumerated() {
            findings += way(step)
            let isLast = index == probed.steps.count - 1
            if let head = step.head { findings.append(answer(step, head, isLast: isLast)) }
        }
        if let error = probed.error {
            let text = Redaction.describe(error)
            findings.append(.problem(.request, "error", error.exitStatus, text, advice: Self.advice(error)))
        } else if let abilities = probed.abilities {
            findings += [
                ranges(abilities),
                isHTTP ? validators(of: abilities) : version(abilities.validators),
                size(abilities), .ok(.request, "name", abilities.name),
            ]
        }
        return findings
    }

    /// Returns what earlier downloads have learned about the number of connections.
    static func connections(_ known: HostKnowledge?, now: Date) -> Finding? {
        guard let known, known.isFresh(at: now) else { return nil }
        let age = Units.duration(now.timeIntervalSince(known.learned))
        let text = known.cap.map { "at most \($0): the server refused or throttled more" } ?? "\(known.best) were best"
        return .ok(.request, "connections", "\(text); learned \(age) ago")
    }

    private func way(_ step: ProbedRequest.Step) -> [Finding] {
        var findings = [Finding.ok(.request, "request", Redaction.hidden(step.text))]
        if let proxy = proxies.proxy(for: step.url) {
            findings.append(.ok(.request, "proxy", "\(proxy.shown) (\(proxy.variable))"))
        }
        if let addresses = addresses(step) { findings.append(.ok(.request, "addresses", addresses)) }
        if let version = step.connection.tlsVersion {
            findings.append(.ok(.request, "TLS", version + (step.connection.cipher.map { ", \($0)" } ?? "")))
        }
        if let key = step.connection.hostKey {
            findings.append(.ok(.request, "host key", "\(key), in known_hosts"))
        }
        var phases = Finding.ok(
            .request, "phases", Self.phases(step.metrics, isSSH: ["sftp", "scp"].contains(step.url.scheme)))
        phases.timings = TimingsDocument(step.metrics)
        return findings + [phases]
    }

    private func addresses(_ step: ProbedRequest.Step) -> String? {
        var tried: [String] = []
        for address in step.connection.addresses where !tried.contains(address) { tried.append(address) }
        guard !tried.isEmpty else { return nil }
        let reached = step.metrics.connect > 0 ? step.metrics.remoteAddress : nil
        return tried.map { address in
            let isReached = reached.map { address.hasPrefix("\($0):") || address.hasPrefix("[\($0)]:") } ?? false
            return address + (isReached ? " (connected)" : " (tried)")
        }.joined(separator: ", ")
    }

    /// Returns the duration of each phase, and the total time. Phases that were not reached are left out.
    static func phases(_ metrics: TransferMetrics, isSSH: Bool = false) -> String {
        var last = 0.0
        var parts: [String] = []
        for (name, end) in [
            ("name lookup", metrics.nameLookup), ("connect", metrics.connect),
            (isSSH ? "SSH" : "TLS", metrics.tls),
            ("first byte", metrics.firstByte),
        ] where end > 0 {
            parts.append("\(name) \(milliseconds(end - last))")
            last = max(last, end)
        }
        return (parts + ["total \(milliseconds(metrics.total))"]).joined(separator: ", ")
    }

    private static func milliseconds(_ seconds: Double) -> String {
        let tenths = Int((max(0, min(seconds, 1e6)) * 10_000).rounded())
        return tenths < 1000 ? "\(tenths / 10).\(tenths % 10) ms" : "\(tenths / 10) ms"
    }

    private var isHTTP: Bool { probed.steps.last?.url.isHTTP ?? true }

    private func answer(_ step: ProbedRequest.Step, _ head: ResponseHead, isLast: Bool) -> Finding {
        if head.httpVersion.isEmpty { return .ok(.request, "login", "accepted, and the file can be read") }
        var text = "\(head.status)\(head.phrase.isEmpty ? "" : " \(head.phrase)") over HTTP/\(head.httpVersion)"
        if !isLast, let location = head.redirectURL { text += ", redirects to \(Redaction.hidden(location))" }
        if isLast, probed.abilities?.offersHTTP3 ?? false { text += "; HTTP/3 is offered" }
        return .ok(.request, isLast ? "answer" : "redirect", text)
    }

    private func ranges(_ abilities: ServerAbilities) -> Finding {
        switch abilities.ranges {
        case .honoured where isHTTP && abilities.validators.ifRange == nil: .ok(.request, "ranges", "yes")
        case .honoured:
            .ok(.request, "ranges", "yes: a download can be continued, and can use several connections")
        case .unsatisfiable: .ok(.request, "ranges", "yes, and the file is empty")
        case .ignored:
            .warning(
                .request, "ranges", "no: the server sends the whole file",
                advice: "an interrupted download starts over, and uses only one connection; try a mirror")
        }
    }

    private func validators(of abilities: ServerAbilities) -> Finding {
        let validators = abilities.validators
        if let etag = validators.etag, !etag.isWeak {
            return .ok(.request, "validator", "ETag \(etag.fieldValue) (strong)")
        }
        let weak = [
            validators.etag.map { "ETag \($0.fieldValue) (weak)" },
            validators.lastModified.map { "Last-Modified \($0)" },
        ].compactMap(\.self).joined(separator: ", ")
        // Without ranges, no download can be continued.
        if abilities.ranges == .ignored, !weak.isEmpty { return .ok(.request, "validator", weak) }
        if validators.ifRange != nil { return .ok(.request, "validator", "\(weak) (strong)") }
        return .warning(
            .request, "validator", weak.isEmpty ? "none" : weak,
            advice: "nothing proves that a partial file belongs to the same file, so its bytes are fetched again and "
                + "compared, over one connection: give --checksum")
    }

    /// Returns the finding about the data that identify the version of a file on an FTP or SSH server.
    private func version(_ validators: Validators) -> Finding {
        guard let time = validators.lastModified else {
            return .warning(
                .request, "validator", "no modification time",
                advice: "a partial file is fetched again and compared: give --checksum, or --allow-unverified")
        }
        return .ok(
            .request, "validator", "its size, its modification time (\(time)) and the end of the partial file")
    }

    private func size(_ abilities: ServerAbilities) -> Finding {
        let type = [abilities.mediaType, abilities.contentEncoding].compactMap { $0.map { ", \($0)" } }.joined()
        guard let total = abilities.total else {
            return .warning(
                .request, "size", "unknown\(type)",
                advice: "only the end of the answer shows that the file is complete: give --checksum")
        }
        return .ok(.request, "size", "\(Units.size(total)) (\(total) bytes)\(type)")
    }

    static func advice(_ error: DownloadError) -> String? {
        switch error {
        case .networkFailed(.nameResolution, _): "check the name, and the name servers in /etc/resolv.conf"
        case .networkFailed(.connect, _): "check that the server or proxy is running and that no firewall blocks it"
        case .networkFailed(.timedOut, _), .networkFailed(.stalled, _):
            "check the network path (firewall, proxy), or try later"
        case .networkFailed(.connectionLost, _):
            "try again; if that does not help, ask the operator of the server or proxy"
        // The messages of these errors already say what to do.
        case .trustFailed where error.reason == "hostKey", .authenticationFailed where error.reason == "login": nil
        case .trustFailed:
            "check the clock and the authorities above; for an authority of your own set SSL_CERT_FILE"
        case .authenticationFailed(let status, _):
            status == 407
                ? "give the proxy's user and password in --proxy, or in the environment variable that names the proxy"
                : "give a user or a token with dlm get"
        case .serverRefused(let status, _):
            switch status {
            case 404, 410: "check the URL"
            case 403, 451: "access is denied; check the URL, or give a user or a token"
            case 429, 503: "the server is busy; try later"
            case 500...: "the server has an error; try later"
            default: "check the URL"
            }
        case .protocolViolated(.tooManyRedirects), .protocolViolated(.redirectRefused):
            "give the URL of the file itself"
        case .protocolViolated: "the server has an error; try a mirror"
        case .networkFailed(.timeLimit, _), .networkFailed(.networkChanged, _), .requestInvalid, .fileFailed,
            .verificationFailed, .noSuchDownload, .cancelled, .sessionUnavailable, .completedFile, .unexpected:
            nil
        }
    }
}
