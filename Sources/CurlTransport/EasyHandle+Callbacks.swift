import CCurl
import CSystem
import DownloadCore
import Foundation

// C callbacks are global functions, because a closure made in an isolated context would trap on the engine thread.

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

/// Runs after each read, including the last read of a transfer, while its connection is still open.
private func onProgress(
    _ context: UnsafeMutableRawPointer?, _ total: curl_off_t, _ done: curl_off_t, _ uploadTotal: curl_off_t,
    _ uploaded: curl_off_t
) -> Int32 {
    guard let context else { return 0 }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    if let easy = transfer.easy { transfer.bodyEnd.noteRead(easy) }
    return 0
}

private func onDebug(
    _ easy: UnsafeMutableRawPointer?, _ kind: curl_infotype, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let bytes, let context else { return 0 }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    switch kind {
    case CURLINFO_DATA_IN: transfer.bodyEnd.overrun?.note(read: UnsafeRawBufferPointer(start: bytes, count: count))
    case CURLINFO_TEXT: transfer.bodyEnd.overrun?.note(text: UnsafeRawBufferPointer(start: bytes, count: count))
    default: break
    }
    return 0
}

/// Records an address in the transfer's trace. Returns 1 if the transfer may connect to this address.
private func onAddress(
    _ context: UnsafeMutableRawPointer?, _ host: UnsafePointer<CChar>?, _ port: UnsafePointer<CChar>?
) -> Int32 {
    guard let context else { return 0 }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    let mustBePublic = transfer.request.options.network.refusesPrivateAddresses == true
    guard let host, let port else { return mustBePublic ? 0 : 1 }
    let address = String(cString: host)
    transfer.trace?.addresses.append("\(address.contains(":") ? "[\(address)]" : address):\(String(cString: port))")
    return mustBePublic && PrivateAddress.contains(address) ? 0 : 1
}

private func onHostKey(
    _ context: UnsafeMutableRawPointer?, _ key: dlm_host_key, _ bytes: UnsafePointer<CChar>?, _ count: Int
) -> Int32 {
    guard let context else { return 0 }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    if key == DLM_HOST_KEY_KNOWN, transfer.trace == nil { return 1 }
    let fingerprint = bytes.flatMap { Fingerprint.sha256(UnsafeRawBufferPointer(start: $0, count: count)) }
    transfer.trace?.hostKey = fingerprint
    if key == DLM_HOST_KEY_KNOWN { return 1 }
    transfer.remote?.hostKey = RemoteFile.HostKey(isChanged: key == DLM_HOST_KEY_CHANGED, fingerprint: fingerprint)
    return 0
}

extension EasyHandle {
    /// Returns the transfer that an easy handle delivers to; nil for libcurl's own handles.
    static func transfer(of easy: UnsafeMutableRawPointer) -> CurlTransfer? {
        dlm_get_private(easy).map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether the peer has closed the TLS session with close_notify. True if there is no OpenSSL session to ask.
    var tlsWasClosed: Bool { dlm_openssl_session(pointer).map { dlm_tls_was_closed($0) != 0 } ?? true }

    /// Reports to the transfer every read from now on.
    func watchReads(for transfer: CurlTransfer) {
        check(dlm_set_progress_callback(pointer, onProgress))
        check(dlm_set_pointer(pointer, CURLOPT_XFERINFODATA, Unmanaged.passUnretained(transfer).toOpaque()))
        set(CURLOPT_NOPROGRESS, 0)
    }

    /// Reports to the transfer the bytes of the body that libcurl reads from now on, and libcurl's messages.
    func watchBytes(for transfer: CurlTransfer) {
        check(dlm_set_debug_callback(pointer, onDebug))
        check(dlm_set_pointer(pointer, CURLOPT_DEBUGDATA, Unmanaged.passUnretained(transfer).toOpaque()))
        set(CURLOPT_VERBOSE, 1)
    }

    /// Whether the connection is encrypted, to the server or to a proxy.
    var isSecure: Bool { dlm_openssl_session(pointer) != nil }

    /// Returns the first bytes that have come on the connection and that libcurl has not read, without waiting for any.
    /// Bytes that are still encrypted are returned as they are.
    func unread(_ socket: Int32?, isSecure: Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            if isSecure, let session = dlm_openssl_session(pointer) {
                count = max(0, Int(dlm_tls_unread(session, buffer.baseAddress, Int32(buffer.count))))
            }
            guard count == 0, let socket else { return }
            count = max(
                0, recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_PEEK | MSG_DONTWAIT)))
            if isSecure, !Self.isBody(record: buffer[..<count]) { count = 0 }
        }
    }

    /// Returns whether a TLS record is long enough to hold a part of a body. TLS 1.3 marks every record as
    /// application data (RFC 8446 section 5.2), but alerts like close_notify are short.
    private static func isBody(record: Slice<UnsafeMutableBufferPointer<UInt8>>) -> Bool {
        record.count >= 5 && record[0] == 23 && Int(record[3]) << 8 | Int(record[4]) > 64
    }

    /// Delivers the response to the transfer. The transfer must outlive this handle; the loop retains the transfer.
    func deliver(to transfer: CurlTransfer) {
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        check(dlm_set_data_callback(pointer, CURLOPT_HEADERFUNCTION, onHeader))
        check(dlm_set_pointer(pointer, CURLOPT_HEADERDATA, context))
        check(dlm_set_data_callback(pointer, CURLOPT_WRITEFUNCTION, onBody))
        check(dlm_set_pointer(pointer, CURLOPT_WRITEDATA, context))
        check(dlm_set_pointer(pointer, CURLOPT_PRIVATE, context))
        watchConnections(of: transfer)
    }

    /// Keeps the reserved descriptors free. Records the connection in the transfer's trace, and refuses private
    /// addresses, if the request wants that. Engine thread only.
    private func watchConnections(of transfer: CurlTransfer) {
        let options = transfer.request.options
        if options.isTraced { transfer.trace = ConnectionTrace() }
        let mustBePublic = options.network.refusesPrivateAddresses == true
        let judging = options.isTraced || mustBePublic ? Unmanaged.passUnretained(transfer).toOpaque() : nil
        check(dlm_judge_addresses(pointer, onAddress, judging))
        guard mustBePublic else { return }
        // A connection that is already open may lead to a private address, so the transfer must not reuse it.
        set(CURLOPT_FRESH_CONNECT, 1)
        set(CURLOPT_FORBID_REUSE, 1)
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

    /// Lets libcurl check the server's SSH key against the known hosts.
    func checkHostKey(for transfer: CurlTransfer, _ logins: LoginFiles) {
        let trust = transfer.request.options.trust
        guard trust.verifiesServer else { return }
        // Without a file, libcurl would not check any key.
        let known = trust.knownHosts ?? logins.knownHosts ?? "/dev/null"
        check(dlm_check_host_key(pointer, known, onHostKey, Unmanaged.passUnretained(transfer).toOpaque()))
    }
}
