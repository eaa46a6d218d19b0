import DownloadCore
import Foundation

/// The step that replaces an expired URL with the URL that the user's command prints.
struct LinkRenewal: AttemptPhase {
    let attempt: Attempt

    /// Whether the URL itself shows that it has expired or will expire within seconds.
    var isDue: Bool {
        @inline(never) get {
            LinkExpiry.date(of: record.request.url).map {
                $0.timeIntervalSince(context.time.date) < LinkExpiry.margin
            } ?? false
        }
    }

    /// Returns the outcome of an attempt whose failure may be due to an expired URL.
    func outcome(of failure: DownloadError) async -> AttemptTask.Outcome {
        guard let status = failure.httpStatus, LinkExpiry.statuses.contains(status),
            record.request.hooks?.urlCommand != nil, !control.isStopping, let renewal = await renew(status: status)
        else { return .failed(failure, retryAfter: attempt.serverPause) }
        switch renewal {
        case .success: return .renewed(failure)
        case .failure(let problem):
            let told = attempt.requestSecrets.hidden(in: problem.text)
            let what = failure.description.drop { $0.isNumber || $0 == " " }
            let phrase = "\(what); \(DownloadError.newLinkCommand) \(told)"
            let error = DownloadError.serverRefused(status: status, phrase: phrase)
            attempt.recordOutcome(error.description)
            return .failed(error, retryAfter: nil)
        }
    }

    /// Runs the command, if there is one. The bytes on disk will be compared with the bytes of the new URL, as after
    /// ``DownloadChange/url(_:_:)``.
    /// - Parameter status: The status of the answer from the expired URL; nil before a request.
    @inline(never)
    @discardableResult
    func renew(status: Int?) async -> Result<Void, LinkFailure>? {
        guard let command = record.request.hooks?.urlCommand, let hooks = context.hooks else { return nil }
        switch await hooks.newURL(for: record, command: command, status: status) {
        case .failure(let problem): return .failure(problem)
        case .success(let text):
            guard let line = text.split(whereSeparator: \.isNewline).first else {
                return .failure(LinkFailure("printed no URL"))
            }
            guard case .success(let parsed) = SourceURL.parse(String(line)), parsed.url.isHTTP else {
                return .failure(LinkFailure("printed something other than an http or https URL"))
            }
            guard record.apply(.url(parsed.url, parsed.credential)) else {
                return .failure(LinkFailure("printed the URL that has expired"))
            }
            control.show(record)
            return .success(())
        }
    }
}
