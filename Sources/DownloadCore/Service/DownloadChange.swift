/// A change of a download that does not start it. The download may be running or not.
package enum DownloadChange: Sendable, Equatable {
    case pause
    /// Ends the download, and keeps its partial file.
    case cancel
    /// Sets the priority. Downloads with a higher priority start earlier.
    case priority(Int)
    /// Sets the speed limit in bytes per second; nil removes the limit.
    case rateLimit(Int64?)
    /// Sets another URL of the same file, for example because the old URL has expired.
    case url(SourceURL, Credential?)
    /// Sets the mirrors: the other URLs of the same file.
    case mirrors([SourceURL])
}

/// A download after a change.
package struct ChangedDownload: Sendable, Equatable {
    package var snapshot: DownloadSnapshot
    /// Whether the download changed. It did not change if it already had the wanted value, or if its state does not
    /// allow the change.
    package var didChange: Bool

    package init(snapshot: DownloadSnapshot, didChange: Bool) {
        self.snapshot = snapshot
        self.didChange = didChange
    }
}
