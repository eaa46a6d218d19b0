import CCurl
import DownloadCore

/// The easy handles of an engine. The handle of a transfer that ended well is used again for a request that differs
/// only in the URL and the rate limits, because a new handle is expensive. Used on the engine thread only.
struct HandlePool {
    private var request: TransferRequest?
    private var setting: EasyHandle.Setting?
    /// The number of times that `request` and `setting` were replaced.
    private var generation = 0
    /// The spare handles by the size of their buffers, which changes with the number of running transfers.
    private var handles: [Int: [EasyHandle]] = [:]
    private var headers: HeaderLines?

    /// The maximum number of spare handles of one size. One engine transfers about as many small files at once.
    private static let most = 16

    /// Returns a handle that is set up for the transfer, or nil if there is no memory for a handle.
    mutating func handle(for transfer: CurlTransfer, _ setting: EasyHandle.Setting, _ shared: SharedState)
        -> EasyHandle?
    {
        let request = transfer.request
        if transfer.leavesNothing, isKnown(request, setting), let index = handles.index(forKey: setting.bufferSize),
            let spare = handles.values[index].popLast()
        {
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
        return easy
    }

    /// Keeps the handle of a transfer that libcurl has removed, if the handle has no state of that transfer.
    mutating func keep(_ handle: EasyHandle, of transfer: CurlTransfer, _ result: TransferResult) {
        guard let setting = handle.setting, transfer.leavesNothing, result.ending == .complete,
            result.cookies.map({ $0.sent.isEmpty && $0.lines.isEmpty }) ?? true
        else { return }
        // A handle that came from the pool is not compared again, because that is slow.
        if handle.poolGeneration != generation {
            if !isKnown(transfer.request, setting) {
                handles = [:]
                (self.request, self.setting) = (transfer.request, setting)
                generation += 1
            }
            handle.poolGeneration = generation
        }
        if handles[setting.bufferSize, default: []].count < Self.most {
            handles[setting.bufferSize, default: []].append(handle)
        }
    }

    mutating func removeAll() { handles = [:] }

    private func isKnown(_ request: TransferRequest, _ setting: EasyHandle.Setting) -> Bool {
        // The engine applies the rate limits, not the handle.
        guard self.request?.isLike(request) == true, var knownSetting = self.setting else { return false }
        knownSetting.bufferSize = setting.bufferSize
        return knownSetting == setting
    }
}
