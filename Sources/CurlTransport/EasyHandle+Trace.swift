import CCurl
import CSystem
import DownloadCore

private func onAddress(_ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<CChar>?) {
    guard let context, let address else { return }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    transfer.trace?.addresses.append(String(cString: address))
}

extension EasyHandle {
    /// Records the connection in the transfer's trace. Engine thread only.
    func trace(_ transfer: CurlTransfer) {
        transfer.trace = ConnectionTrace()
        check(dlm_watch_addresses(pointer, onAddress, Unmanaged.passUnretained(transfer).toOpaque()))
    }

    /// The TLS version and cipher of the transfer's connection; nil if the connection is not encrypted, or not by
    /// OpenSSL.
    var tlsNames: (version: String, cipher: String)? {
        var version: UnsafePointer<CChar>?
        var cipher: UnsafePointer<CChar>?
        guard let session = dlm_openssl_session(pointer), dlm_tls_names(session, &version, &cipher) != 0,
            let version, let cipher
        else { return nil }
        return (String(cString: version), String(cString: cipher))
    }
}
