import HTTPTypes

/// What a request may do and carries, beside what the transfers are about.
extension DownloadRunner {
    /// What cannot be asked for in parts, and may not be asked for twice, begins anew.
    var whyAnew: String? {
        @inline(never) get {
            record.request.isPlain || record.resume.written.isEmpty
                ? nil : "a \(record.request.method.rawValue) is sent as a whole"
        }
    }

    func noteCookies(of result: TransferResult) { secrets.learn(result.cookies) }

    @inline(never)
    func saveCookies() throws(DownloadError) {
        guard let jar = record.request.secretFiles.cookieJar else { return }
        try secrets.cookies.save(to: jar)
    }
}
