import DownloadKit
import Foundation

/// The text of `dlm show`.
struct ShowText {
    let document: ShowDocument
    let style: Style

    var lines: [String] {
        var lines = [[String(document.id), Escaping.line(document.name), state].joined(separator: "  ")]
        func add(_ label: String, _ text: String?) {
            guard let text, !text.isEmpty else { return }
            lines.append("   " + style.dim(DisplayWidth.padded(label, to: 10)) + "  " + Escaping.line(text))
        }
        add("from", document.url)
        add("final URL", finalURL)
        for (index, source) in (document.sources ?? []).enumerated() {
            add(index == 0 ? "sources" : "", Self.text(source))
        }
        add("metalink", document.describedBy)
        add("metalink", document.documentFailure.map { "not used: \($0)" })
        add(isComplete ? "file" : "to", document.path ?? document.folder + "/")
        add(isComplete ? "size" : "have", have)
        add("checksum", document.checksum.map { $0 + verification })
        for header in document.headers { add("header", header) }
        for (index, option) in document.options.enumerated() { add(index == 0 ? "options" : "", option) }
        add(
            "proof",
            document.acceptsUnverified
                ? "a file that is not proved to be complete is accepted (--allow-unverified)" : nil)
        add("trust", document.insecure ? "the server's certificate is not verified" : nil)
        add("limit", document.rateLimit.map { Units.rate(Double($0)) })
        add("priority", document.priority == 0 ? nil : "\(document.priority)")
        add("session", document.session.map { document.isAttended == false ? "\($0) (not running)" : $0 })
        add("added", Self.text(document.created))
        add("finished", isComplete ? Self.text(document.updated) : nil)
        for (index, attempt) in document.attempts.enumerated() {
            add(index == 0 ? "attempts" : "", Self.text(attempt, number: index + 1))
        }
        add("timings", document.attempts.last?.timings.map(Self.text))
        add("error", document.error?.message)
        add("continue", canContinue ? "dlm resume \(document.id)" : nil)
        return lines
    }

    private var state: String {
        let state = style.state(document.state, document.state)
        // The error of a failed download is shown in the line `error`.
        guard document.state != "failed", let note = document.note else { return state }
        // Some notes begin with the name of the state.
        if note.hasPrefix(document.state + " ") {
            return state + Escaping.line(String(note.dropFirst(document.state.count)))
        }
        return isComplete ? "\(state), \(Escaping.line(note))" : "\(state): \(Escaping.line(note))"
    }

    private var isComplete: Bool { document.state == "completed" }

    private var verification: String {
        switch document.verifiedBy {
        case nil: ""
        case ChecksumSource.server.rawValue: "  (verified; the checksum is from the server)"
        default: "  (verified)"
        }
    }

    private var canContinue: Bool {
        ["paused", "failed", "cancelled"].contains(document.state) || ["gone", "changed"].contains(document.file)
    }

    private var finalURL: String? {
        guard let url = document.effectiveURL, url != document.url else { return nil }
        let hops = document.attempts.last?.redirects ?? 0
        return hops == 0 ? url : "\(url)  (\(hops) \(hops == 1 ? "redirect" : "redirects"))"
    }

    private var have: String {
        guard !isComplete else { return Units.size(document.received) }
        if document.received == 0, document.total == nil { return "nothing yet" }
        var text = Units.part(document.received, of: document.total).replacing("/", with: " of ")
        if let percent = document.percent { text += " (\(percent)%)" }
        if document.connections > 1 { text += ", \(document.connections) connections" }
        if let limit = document.connectionLimit { text += ", at most \(limit) connections" }
        return [text, resumability].compactMap(\.self).joined(separator: "; ")
    }

    private var resumability: String? {
        guard document.received > 0 else { return nil }
        guard document.acceptsRanges else { return "not resumable: the server does not support ranges" }
        if let etag = document.etag {
            return etag.hasPrefix("W/") ? "resumable: weak ETag \(etag)" : "resumable: ETag \(etag)"
        }
        return document.lastModified.map { "resumable: Last-Modified \($0)" }
            ?? "resumable: the server sends no ETag or Last-Modified, so dlm compares the end of the partial file with "
            + "the server's file"
    }

    private static func text(_ source: ShowDocument.Source) -> String {
        var parts = [source.url]
        if source.received > 0 { parts.append(Units.size(source.received)) }
        if let failure = source.failure { parts.append("no longer used: \(failure)") }
        return parts.joined(separator: "  ")
    }

    private static func text(_ attempt: ShowDocument.Attempt, number: Int) -> String {
        var parts = ["\(number)", text(attempt.started)]
        if let address = attempt.remoteAddress { parts.append(address) }
        if let http = attempt.httpVersion { parts.append("HTTP/\(http)") }
        if attempt.connections > 1 || attempt.connectionReason != nil {
            parts.append("x\(attempt.connections)" + (attempt.connectionReason.map { " (\($0))" } ?? ""))
        }
        if attempt.received > 0 || attempt.outcome == nil {
            let span = attempt.ended.map { " in \(Units.duration($0.timeIntervalSince(attempt.started)))" } ?? ""
            parts.append(Units.size(attempt.received) + span)
        }
        // `completed` is not shown, because the state of the download already says it.
        if let outcome = attempt.outcome, outcome != "completed" { parts.append("ended: \(outcome)") }
        return parts.joined(separator: "  ")
    }

    /// Returns the durations of the phases of an attempt.
    private static func text(_ timings: TimingsDocument) -> String {
        let phases = [
            ("name lookup", timings.nameLookup), ("connect", timings.connect), ("TLS", timings.tls),
            ("first byte", timings.firstByte),
        ]
        let told = phases.filter { $0.1 > 0 }.map { "\($0.0) \(ProgressText.milliseconds($0.1))" }
        return (told + (timings.reusedConnection ? ["connection reused"] : [])).joined(separator: ", ")
    }

    /// Returns a date in local time: `2026-11-21 10:31:07`.
    static func text(_ date: Date) -> String {
        date.formatted(
            Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: .current).year().month().day().time(
                includingFractionalSeconds: false))
    }
}
