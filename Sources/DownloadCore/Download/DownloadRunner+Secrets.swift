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

    /// Learns what a transfer changed since its head came: cookies of the head are learned with the head, and another
    /// transfer may have changed them since.
    func noteCookies(of result: TransferResult, _ segment: SegmentWriter) {
        var known = result.cookies
        if let learned = segment.learnedCookies { known?.sent = learned }
        secrets.learn(known)
    }

    @inline(never)
    func saveCookies() throws(DownloadError) {
        guard let jar = record.request.secretFiles.cookieJar else { return }
        try secrets.cookies.save(to: jar, now: context.time.date)
    }
}
