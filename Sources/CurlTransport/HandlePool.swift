import CCurl
import DownloadCore

/// Makes the easy handles of an engine, and keeps those of transfers that have ended well for requests that differ from theirs
/// only in the URL: to set up a new handle takes a tenth of the instructions of a small file. Used on the engine thread only.
struct HandlePool {
    private var request: TransferRequest?
    private var setting: EasyHandle.Setting?
    private var handles: [EasyHandle] = []
    private var headers: HeaderLines?

    /// As many as transfers of small files usually run on one engine.
    private static let most = 16

    /// Returns a handle that is set up for the transfer; nil without memory for one.
    mutating func handle(for transfer: CurlTransfer, _ setting: EasyHandle.Setting, _ shared: SharedState)
        -> EasyHandle?
    {
        let request = transfer.request
        if !handles.isEmpty, transfer.leavesNothing, isKnown(request, setting), let spare = handles.popLast() {
            spare.deliver(to: transfer)
            spare.set(CURLOPT_URL, request.url.string)
            return spare
        }
        guard let easy = EasyHandle() else { return nil }
        easy.deliver(to: transfer)
        easy.configure(for: request, setting: setting, shared: shared)
        if request.url.isHTTP {
            easy.setFields(of: request, &headers)
        } else if request.url.known.isSSH {
            easy.checkHostKey(for: transfer, shared.logins)
        }
        if request.isTraced { easy.trace(transfer) }
        return easy
    }

    /// Keeps the handle of a transfer that libcurl has let go of, if nothing of that transfer is left in it.
    mutating func keep(_ handle: EasyHandle, of transfer: CurlTransfer, _ result: TransferResult) {
        guard let setting = handle.setting, transfer.leavesNothing, result.ending == .complete, !result.hasCookies
        else {
            return
        }
        if !isKnown(transfer.request, setting) {
            handles = []
            (self.request, self.setting) = (transfer.request, setting)
        }
        if handles.count < Self.most { handles.append(handle) }
    }

    mutating func removeAll() { handles = [] }

    private func isKnown(_ request: TransferRequest, _ setting: EasyHandle.Setting) -> Bool {
        guard let known = self.request, known.url.scheme == request.url.scheme, self.setting == setting else {
            return false
        }
        var other = request
        other.url = known.url
        // Limits are kept by the engine.
        other.rateLimits = known.rateLimits
        return other == known
    }
}

extension TransferResult {
    fileprivate var hasCookies: Bool { cookies.map { !$0.sent.isEmpty || !$0.lines.isEmpty } ?? false }
}
