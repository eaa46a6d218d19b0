import DownloadKit

/// A receiver of the results of a worker, in addition to the worker's manifest.
protocol WorkerReceiver: Sendable {
    /// Records the id and the URL of a download that has begun. ``lost(_:_:)`` needs the URL.
    func began(_ id: DownloadID, _ url: String)
    /// Returns whether the end of a URL is still expected. One process may download a URL again after the URL was put
    /// back into the queue.
    func awaits(_ url: String) -> Bool
    /// Decides whether a URL whose download has just ended is downloaded again. If it is not, records its end, before
    /// its entry comes through the manifest.
    /// - Returns: whether the URL is downloaded again.
    func restarts(_ url: String, after error: DownloadError?) -> Bool
    /// Handles the ends of downloads. If there is a manifest, the lines of these downloads are already on the disk.
    func ended(_ entries: [ManifestEntry])
    /// Handles the end of a download that has no record any more.
    func lost(_ id: DownloadID, _ error: DownloadError)
    /// The reason why the run must stop; nil while it may continue.
    var stopReason: String? { get }
    /// The exit status that this receiver requires; nil for none.
    var exitStatus: Int32? { get }
    /// Returns when everything has been passed on.
    /// - Parameter isHurried: whether a signal is about to end the process.
    func finish(isHurried: Bool) async
}
