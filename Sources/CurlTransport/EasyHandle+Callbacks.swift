import CCurl
import CSystem
import DownloadCore

// C callbacks are global functions: a closure made in an isolated context would trap on the engine thread.

private func onHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return 0 }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    let total = size * count
    return transfer.takeHeaderLine(UnsafeRawBufferPointer(start: bytes, count: total)) ? total : 0
}

private func onBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return 0 }
    let total = size * count
    if total == 0 { return 0 }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    switch transfer.takeBody(UnsafeRawBufferPointer(start: bytes, count: total)) {
    case .taken: return total
    case .pause: return Int(CURL_WRITEFUNC_PAUSE)
    case .refuse: return 0
    }
}

/// Comes after each read, the last one of a transfer included, while its connection is still open.
private func onProgress(
    _ context: UnsafeMutableRawPointer?, _ total: curl_off_t, _ done: curl_off_t, _ uploadTotal: curl_off_t,
    _ uploaded: curl_off_t
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().noteTLSEnd()
    return 0
}

extension EasyHandle {
    /// The peer has ended the TLS session in order; true, too, where that cannot be known.
    var tlsWasClosed: Bool { dlm_openssl_session(pointer).map { dlm_tls_was_closed($0) != 0 } ?? true }

    /// Has the transfer told of each read from now on.
    func watchReads(for transfer: CurlTransfer) {
        check(dlm_set_progress_callback(pointer, onProgress))
        check(dlm_set_pointer(pointer, CURLOPT_XFERINFODATA, Unmanaged.passUnretained(transfer).toOpaque()))
        set(CURLOPT_NOPROGRESS, 0)
    }

    /// The transfer must outlive this handle; the loop keeps it.
    func deliver(to transfer: CurlTransfer) {
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        check(dlm_set_data_callback(pointer, CURLOPT_HEADERFUNCTION, onHeader))
        check(dlm_set_pointer(pointer, CURLOPT_HEADERDATA, context))
        check(dlm_set_data_callback(pointer, CURLOPT_WRITEFUNCTION, onBody))
        check(dlm_set_pointer(pointer, CURLOPT_WRITEDATA, context))
    }
}
