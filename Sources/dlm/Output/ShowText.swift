import DownloadKit
import Foundation

/// The text of `dlm show`.
struct ShowText {
    let document: DownloadDocument
    let style: Style

    private var record: DownloadRecord { document.snapshot.record }
    private var request: DownloadRequest { document.snapshot.request }
    private var stateWord: String { record.state.kind.rawValue }

    var lines: [String] {
        var lines = [[String(record.id), Escaping.line(record.displayName), state].joined(separator: "  ")]
        func add(_ label: String, _ text: String?, isLink: Bool = false) {
            guard let text, !text.isEmpty else { return }
            let shown = style.link(Escaping.line(text), to: isLink ? text : nil)
            lines.append("   " + style.dim(DisplayWidth.padded(label, to: 10)) + "  " + shown)
        }
        add("from", request.url.string)
        add("final URL", finalURL)
        for (index, source) in (document.sources ?? []).enumerated() {
            add(index == 0 ? "sources" : "", Self.text(source))
        }
        add("metalink", request.describedBy?.string)
        add("metalink", record.resume.sources?.documentFailure.map { "not used: \($0)" })
        add(isComplete ? "file" : "to", document.snapshot.path ?? request.destination.folder + "/", isLink: isComplete)
        add(isComplete ? "size" : "have", have)
        add("parts", parts)
        for (index, connection) in (document.snapshot.activeConnections ?? []).enumerated() {
            add(
                index == 0 ? "connection" : "",
                "\(connection.origin)  at \(Units.size(connection.position))  \(Units.rate(connection.speed))")
        }
        add("checksum", document.checksum.map { $0 + verification })
        add("signed by", document.signature.map { "\($0.key) (\($0.document))" })
        for header in document.headers { add("header", header) }
        for (index, option) in GivenOptions.lines(request).enumerated() { add(index == 0 ? "options" : "", option) }
        add(
            "proof",
            request.acceptsUnverified
                ? "a file that is not proved to be complete is accepted (--allow-unverified)" : nil)
        add("trust", request.trust.verifiesServer ? nil : "the server's certificate is not verified")
        add("limit", request.rateLimit.map { Units.rate(Double($0)) })
        add("priority", request.priority == 0 ? nil : "\(request.priority)")
        add("session", record.session.map { document.snapshot.isAttended ? $0 : "\($0) (not running)" })
        add("added", Self.text(record.created))
        add("finished", isComplete ? Self.text(record.updated) : nil)
        for (index, attempt) in record.attempts.enumerated() {
            add(index == 0 ? "attempts" : "", Self.text(attempt, number: index + 1))
        }
        add("timings", record.attempts.last?.metrics.map(Self.text))
        add("error", record.state.error.map(Redaction.describe))
        add("continue", canContinue ? "dlm resume \(record.id)" : nil)
        return lines
    }

    private var state: String {
        let state = style.state(record.state.kind, stateWord)
        // The error of a failed download is shown in the line `error`.
        guard record.state.kind != .failed, let note = document.note else { return state }
        // Some notes begin with the name of the state.
        if note.hasPrefix(stateWord + " ") {
            return state + Escaping.line(String(note.dropFirst(stateWord.count)))
        }
        return isComplete ? "\(state), \(Escaping.line(note))" : "\(state): \(Escaping.line(note))"
    }

    private var isComplete: Bool { document.isComplete }

    private var verification: String {
        document.verified.map { "  (verified\(ProgressText.origin(of: $0, record)))" } ?? ""
    }

    private var canContinue: Bool {
        [.paused, .failed, .cancelled].contains(record.state.kind) || [.gone, .changed].contains(document.fate)
    }

    private var finalURL: String? {
        guard let url = record.resume.finalURL?.string, url != request.url.string else { return nil }
        let hops = record.attempts.last?.redirects ?? 0
        return hops == 0 ? url : "\(url)  (\(Units.count(hops, "redirect")))"
    }

    private var have: String {
        let progress = document.snapshot.progress
        guard !isComplete else { return Units.size(progress.received) }
        if progress.received == 0, progress.total == nil { return "nothing yet" }
        var text = Units.part(progress.received, of: progress.total).replacing("/", with: " of ")
        if let percent = document.percent { text += " (\(percent)%)" }
        let connections = request.connections
        if connections.number > 1 { text += ", \(connections.number) connections" }
        if let limit = connections.limit { text += ", at most \(limit) connections" }
        return [text, resumability].compactMap(\.self).joined(separator: "; ")
    }

    /// The file as a bar, with the parts that are there (`#`), that a connection fetches now (`>`), that are there in
    /// part (`+`), and that are missing (`.`).
    private var parts: String? {
        let (written, positions) = (record.resume.written, (document.snapshot.activeConnections ?? []).map(\.position))
        guard !isComplete, let total = record.resume.total, total > 0, !written.isEmpty else { return nil }
        let width = Int64(Self.barWidth)
        let border = { (cell: Int) in total / width * Int64(cell) + total % width * Int64(cell) / width }
        let marks: [Character] = style.isUnicode ? ["█", "▓", "▒", "░"] : ["#", ">", "+", "."]
        return String(
            (0..<Self.barWidth).map { cell in
                let range = border(cell)..<max(border(cell) + 1, border(cell + 1))
                if written.contains(range) { return marks[0] }
                if positions.contains(where: range.contains) { return marks[1] }
                return written.overlaps(range) ? marks[2] : marks[3]
            })
    }

    private static let barWidth = 50

    private var resumability: String? {
        guard document.snapshot.progress.received > 0 else { return nil }
        guard record.resume.acceptsRanges else { return "not resumable: the server does not support ranges" }
        if let etag = document.validators?.etag?.fieldValue {
            return etag.hasPrefix("W/") ? "resumable: weak ETag \(etag)" : "resumable: ETag \(etag)"
        }
        return document.validators?.lastModified.map { "resumable: Last-Modified \($0)" }
            ?? "resumable: the server sends no ETag or Last-Modified, so dlm compares the end of the partial file with "
            + "the server's file"
    }

    private static func text(_ source: SourceStanding) -> String {
        var parts = [source.url]
        if source.received > 0 { parts.append(Units.size(source.received)) }
        if let failure = source.failure { parts.append("no longer used: \(failure)") }
        return parts.joined(separator: "  ")
    }

    private static func text(_ attempt: AttemptRecord, number: Int) -> String {
        var parts = ["\(number)", text(attempt.started)]
        let addresses = [attempt.metrics?.remoteAddress].compactMap(\.self) + (attempt.otherAddresses ?? [])
        if !addresses.isEmpty { parts.append(addresses.joined(separator: ", ")) }
        if let http = attempt.metrics?.httpVersion { parts.append("HTTP/\(http)") }
        if attempt.connections > 1 || attempt.connectionReason != nil {
            parts.append("x\(attempt.connections)" + (attempt.connectionReason.map { " (\($0))" } ?? ""))
        }
        if attempt.received > 0 || attempt.outcome == nil {
            let span = attempt.ended.map { " in \(Units.duration($0.timeIntervalSince(attempt.started)))" } ?? ""
            parts.append(Units.size(attempt.received) + span)
        }
        // `completed` is not shown, because the state of the download already says it.
        if let outcome = attempt.outcome, outcome != AttemptRecord.completed { parts.append("ended: \(outcome)") }
        return parts.joined(separator: "  ")
    }

    private static func text(_ timings: TransferMetrics) -> String {
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
