import DownloadKit

/// The receiver of what a worker has done, beside its manifest.
protocol WorkerReceiver: Sendable {
    /// Records the number of a download, before its end can be lost.
    func began(_ id: DownloadID, _ url: String)
    /// Returns whether the end of a URL is still expected. One process may download a URL again, after it was put back.
    func awaits(_ url: String) -> Bool
    /// Records that a URL has ended, before its entry comes through the manifest.
    /// - Returns: whether the URL is downloaded again, so that this is not its end.
    func restarts(_ url: String, after error: DownloadError?) -> Bool
    /// Takes the ends of downloads. Their lines are on the disk, if there is a manifest.
    func ended(_ entries: [ManifestEntry])
    /// Takes the end of a download that has no record any more.
    func lost(_ id: DownloadID, _ error: DownloadError)
    /// The reason why the run must stop; nil while it may continue.
    var stopReason: String? { get }
    /// The exit status that this receiver requires; nil for none.
    var exitStatus: Int32? { get }
    /// Returns when everything has been passed on.
    /// - Parameter isHurried: whether a signal is about to end the process.
    func finish(isHurried: Bool) async
}
