import CSystem
import DownloadCore

/// The schedule of the engine's checks of FTP transfers. The checks are needed because libcurl does not always watch
/// the control connections of these transfers.
struct Nudging {
    /// The time of the next check, in ms of loop time.
    var next: Int64 = 0
    /// Whether an FTP transfer may need checks. While false, the engine does not search its transfers for FTP
    /// transfers.
    var mayBeNeeded = false
}

extension CurlLoop {
    /// Makes libcurl check the sockets of waiting FTP transfers, from time to time. While libcurl 7.88 opens an FTP
    /// data connection with TLS or through a proxy, libcurl does not watch the control connection. The server may
    /// already have replied on the control connection.
    func nudge() {
        guard nudging.mayBeNeeded, now >= nudging.next else { return }
        let waiting = active.values.filter(\.needsNudging)
        nudging.mayBeNeeded = !waiting.isEmpty
        nudging.next = now + Self.nudgeInterval
        for transfer in waiting {
            guard let multi = transfer.attachment?.multi, let socket = transfer.socket else { continue }
            survive(multi, multi.socketReady(socket, flags: DLM_READABLE.rawValue))
        }
        if nudging.mayBeNeeded { collectFinished() }
    }

    private static let nudgeInterval: Int64 = 20
}
