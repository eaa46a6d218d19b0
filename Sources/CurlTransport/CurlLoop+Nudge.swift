import CSystem
import DownloadCore

extension CurlLoop {
    /// While the data connection of FTP is being made, with TLS or through a proxy, libcurl 7.88 does not watch the
    /// control connection, on which the server may have answered: it is asked to look from time to time.
    func nudge() {
        guard mayNeedNudge, now >= nextNudge else { return }
        let waiting = active.values.filter(\.needsNudging)
        mayNeedNudge = !waiting.isEmpty
        nextNudge = now + Self.nudgeInterval
        for transfer in waiting {
            guard transfer.easy != nil, let multi = transfer.multi, let socket = transfer.socket else { continue }
            survive(multi, multi.socketReady(socket, flags: DLM_READABLE.rawValue))
        }
        if mayNeedNudge { collectFinished() }
    }

    private static let nudgeInterval: Int64 = 20
}
