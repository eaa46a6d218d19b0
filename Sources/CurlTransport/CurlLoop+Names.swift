import CCurl
import DownloadCore
import Synchronization

/// The memory of names that cannot be resolved. It is used only if the request says how long names are remembered
/// (`NetworkSettings.dnsCacheTime`).
extension CurlLoop {
    /// Fails a transfer if its host's name must not be looked up yet. Returns false if the name must be looked up.
    func refuseFailedName(_ transfer: CurlTransfer) -> Bool {
        guard let name = Self.lookedUpName(transfer.request) else { return false }
        let now = now
        guard shared.failedNames.withLock({ $0.isFailed(name, now: now) }) else { return false }
        let message = "Could not resolve host: \(transfer.request.url.host) (an earlier lookup failed)"
        let diagnosis = TransportDiagnosis(code: Int(CURLE_COULDNT_RESOLVE_HOST.rawValue), message: message)
        finish(transfer, TransferResult(.failed(.networkFailed(.nameResolution, diagnosis))))
        return true
    }

    /// Records whether the name of a transfer's host was found, at the end of the transfer.
    func learnName(_ transfer: CurlTransfer, _ code: CURLcode) {
        let request = transfer.request
        guard let name = Self.lookedUpName(request), let seconds = request.options.network.dnsCacheTime else { return }
        let now = now
        shared.failedNames.withLock { names in
            if code == CURLE_COULDNT_RESOLVE_HOST {
                names.failed(name, now: now, limit: Int64(min(seconds, 1e9) * 1000))
            } else if !names.isEmpty, code == CURLE_OK {
                names.resolved(name)
            }
        }
    }

    /// Returns the host together with the other settings on which the answer of a name server depends. Returns nil if
    /// no name is looked up or remembered.
    private static func lookedUpName(_ request: TransferRequest) -> String? {
        let network = request.options.network
        guard network.dnsCacheTime != nil, network.proxy == nil, network.addresses == nil,
            request.options.unixSocket == nil
        else { return nil }
        return "\(request.url.host) \(network.addressFamily?.rawValue ?? "") \(network.nameServer ?? "")"
    }
}
