import DownloadKit
import Foundation

/// Notices about downloads in progress, and details of completed downloads.
enum ProgressText {
    /// - Parameters:
    ///   - tellsRetries: Whether a wait for another attempt is reported even without `-v`.
    ///   - before: The request before a change; nil if it is not known.
    static func text(
        _ event: DownloadEvent, verbosity: Int, tellsRetries: Bool = false, before: DownloadRequest? = nil, now: Date
    ) -> String? {
        let name = "\(event.snapshot.id): \(event.snapshot.record.displayName)"
        switch event {
        case .didRestart(let snapshot, .folderDeleted):
            let folder = snapshot.record.request.destination.folder
            return "\(folder): was deleted; it is made again, and its downloads start over"
        case .didRestart(_, let why): return "\(name): \(ErrorText.restart(why))"
        case .didAdd(let snapshot) where verbosity > 0: return "\(name): added: \(snapshot.record.request.url)"
        case .didStart(_, let offset) where verbosity > 0:
            return offset > 0 ? "\(name): continues at \(Units.size(offset))" : "\(name): started"
        case .willRetry(let snapshot, let error):
            var retry = "tries again"
            switch snapshot.record.state {
            case .waiting(.network, _): return "\(name): \(Redaction.describe(error)); \(StateText.waitsForNetwork)"
            case _ where !snapshot.record.request.mirrors.isEmpty:
                return "\(name): \(Redaction.describe(error)); next: \(snapshot.record.source)"
            case .waiting(_, let until): retry = StateText.retry(until, now: now)
            default: break
            }
            if verbosity == 0, !tellsRetries { return nil }
            return "\(name): \(Redaction.describe(error)); \(retry)"
        case .didPostpone(let snapshot):
            return "\(name): \(StateText.note(snapshot.record.state, now: now) ?? "waiting")"
        case .didChange(let snapshot): return "\(name): \(changes(snapshot.record.request, before))"
        case .didAdd, .didStart, .didPause, .didResume, .didCancel, .didRemove, .didComplete, .didFail:
            return nil
        }
    }

    /// Returns the text of the values that are not as before, or of all values that can be changed.
    private static func changes(_ request: DownloadRequest, _ before: DownloadRequest?) -> String {
        var parts: [String] = []
        if request.rateLimit != before?.rateLimit || before == nil {
            parts.append(request.rateLimit.map { "limit now \(Units.rate(Double($0)))" } ?? "no limit now")
        }
        if request.priority != before?.priority { parts.append("priority now \(request.priority)") }
        if request.url != before?.url { parts.append("now from \(request.url)") }
        if let before, request.mirrors != before.mirrors { parts.append("mirrors now: \(request.mirrors.count)") }
        return parts.isEmpty ? "changed" : parts.joined(separator: ", ")
    }

    static func details(_ record: DownloadRecord) -> [String] {
        let name = "\(record.id): \(record.displayName)"
        var lines: [String] = []
        if let url = record.resume.finalURL, url != record.request.url { lines.append("\(name): redirected to \(url)") }
        if let document = record.request.describedBy { lines.append("\(name): described by \(document)") }
        if let failure = record.resume.sources?.documentFailure {
            lines.append("\(name): the Metalink document that the server names is not used: \(failure)")
        }
        for (index, attempt) in record.attempts.enumerated() {
            var parts = ["attempt \(index + 1)", Units.size(attempt.received)]
            parts.append(Units.count(attempt.connections, "connection"))
            if attempt.redirects > 0 { parts.append("\(attempt.redirects) redirects") }
            if let metrics = attempt.metrics {
                if let address = metrics.remoteAddress { parts.append("from \(address)") }
                if let version = metrics.httpVersion { parts.append("HTTP/\(version)") }
                parts.append("first byte after \(milliseconds(metrics.firstByte))")
            }
            if let outcome = attempt.outcome, outcome != AttemptRecord.completed { parts.append(outcome) }
            lines.append("\(name): \(parts.joined(separator: ", "))")
        }
        if record.completed != nil, let signature = record.resume.signature {
            lines.append("\(name): signed by \(signature.key) (\(signature.document))")
        }
        if let verified = record.completed?.verified {
            lines.append("\(name): \(verified.checksum) verified\(origin(of: verified, record))")
        } else if let document = record.resume.proof?.stale {
            lines.append("\(name): \(document) is older than the file, so its digest is not used")
        } else if let asked = record.resume.proof?.asked, !asked.isEmpty {
            lines.append("\(name): no digest of the file in \(asked.joined(separator: ", "))")
        }
        if record.completed?.wasCurrent ?? false { lines.append("\(name): is current, nothing fetched") }
        return lines
    }

    /// Returns the words that say where a checksum is from, and how strong it is; empty if the user gave it.
    static func origin(of verified: VerifiedChecksum, _ record: DownloadRecord) -> String {
        guard let strength = ProofStrength(of: record) else { return "" }
        let field = verified.checksum.field
        let place = field?.contains("://") ?? false ? field : "the server" + (field.map { "'s \($0)" } ?? "")
        return "; the checksum is from \(place ?? "") (\(strength.words))"
    }

    /// Returns the words for the document beside the file that has the digest: its name, or its host if that is not
    /// the host of the file. Empty for any other checksum.
    static func place(of checksum: Checksum, _ record: DownloadRecord) -> String {
        guard let url = checksum.field.flatMap({ try? SourceURL($0) }), let strength = ProofStrength(of: record) else {
            return ""
        }
        return strength == .sameServer
            ? " by \(FileNaming.lastComponent(url.path)), \(strength.words)" : " by \(url.host)"
    }

    static func milliseconds(_ seconds: Double) -> String { "\(Int((max(0, min(seconds, 1e9)) * 1000).rounded())) ms" }
}
