import CSystem
import DownloadCore

extension CurlLoop {
    /// Makes libcurl check the sockets of waiting FTP transfers, from time to time. While libcurl 7.88 opens an FTP
    /// data connection with TLS or through a proxy, libcurl does not watch the control connection. The server may
    /// already have replied on the control connection.
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
