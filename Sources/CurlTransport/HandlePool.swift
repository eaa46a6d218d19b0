import CCurl
import DownloadCore

/// The easy handles of an engine. Handles of successful transfers are kept for requests that differ only in their URLs.
/// Setting up a new handle takes a tenth of the instructions of a small file. Used on the engine thread only.
struct HandlePool {
    private var request: TransferRequest?
    private var setting: EasyHandle.Setting?
    private var handles: [EasyHandle] = []
    private var headers: HeaderLines?

    /// The most handles that are kept: as many as the transfers of small files that usually run on one engine.
    private static let most = 16

    /// Returns a handle that is set up for the transfer, or nil if there is no memory for a handle.
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

    /// Keeps the handle of a transfer that libcurl has removed, if the handle has no state of that transfer.
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
        // The engine applies the rate limits, not the handle.
        other.rateLimits = known.rateLimits
        return other == known
    }
}

extension TransferResult {
    fileprivate var hasCookies: Bool { cookies.map { !$0.sent.isEmpty || !$0.lines.isEmpty } ?? false }
}
