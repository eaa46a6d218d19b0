import HTTPTypes

/// What a request may do and carries, beside what the transfers are about.
extension DownloadRunner {
    /// What cannot be asked for in parts, and may not be asked for twice, begins anew.
    func dropUnusable() async throws(DownloadError) {
        guard !record.request.isPlain, !record.resume.written.isEmpty else { return }
        try await startOver(why: "a \(record.request.method.rawValue) is sent as a whole")
    }

    func noteCookies(of result: TransferResult) {
        guard let known = result.cookies else { return }
        secrets.cookies?.learn(known.lines, of: known.host)
    }

    func saveCookies() throws(DownloadError) {
        guard let jar = record.request.secretFiles.cookieJar else { return }
        try secrets.cookies?.save(to: jar)
    }
}
