import Foundation

/// Links that expire, and the command that gets new ones.
extension DownloadRunner {
    /// One that is known to have expired is not tried. When there is no other the server has the last word.
    func renewExpiredLink() async {
        guard let expiry = LinkExpiry.date(of: record.request.url),
            expiry.timeIntervalSince(context.time.date) < LinkExpiry.margin
        else { return }
        _ = await renewLink(status: nil)
    }

    /// What comes of a failure that a new link may mend.
    func afterRenewal(_ failure: DownloadError) async -> Outcome {
        guard let status = failure.httpStatus, LinkExpiry.statuses.contains(status),
            record.request.hooks?.urlCommand != nil, !control.isStopping,
            let renewal = await renewLink(status: status)
        else { return .failed(failure, retryAfter: retryAfter) }
        switch renewal {
        case .success: return .renewed(failure)
        case .failure(let problem):
            let told = RequestSecrets(record.request, secrets).hidden(in: problem.text)
            let what = failure.description.drop { $0.isNumber || $0 == " " }
            let phrase = "\(what); \(DownloadError.newLinkCommand) \(told)"
            let error = DownloadError.serverRefused(status: status, phrase: phrase)
            noteAttempt(error.description)
            return .failed(error, retryAfter: nil)
        }
    }

    /// Nil without a command. With a new link, what is here is compared with what comes, as after `set-url`.
    private func renewLink(status: Int?) async -> Result<Void, LinkFailure>? {
        guard let command = record.request.hooks?.urlCommand, let links = context.links else { return nil }
        switch await links.newURL(for: record, command: command, status: status) {
        case .failure(let problem): return .failure(problem)
        case .success(let text):
            guard let line = text.split(whereSeparator: \.isNewline).first else {
                return .failure(LinkFailure("printed no URL"))
            }
            guard case .success(let parsed) = SourceURL.parse(String(line)), parsed.url.isHTTP else {
                return .failure(LinkFailure("printed something that is no http or https URL"))
            }
            guard record.apply(.url(parsed.url, parsed.credential)) else {
                return .failure(LinkFailure("printed the URL that has expired"))
            }
            control.show(record)
            return .success(())
        }
    }
}
