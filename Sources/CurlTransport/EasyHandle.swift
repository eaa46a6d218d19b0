import CCurl
import DownloadCore
import DownloadSystem
import Glibc
import HTTPTypes

/// A libcurl easy handle with its lists and error buffer. It serves one transfer at a time (``HandlePool``), on the
/// engine thread only.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private var headers: HeaderLines?
    private var addresses: UnsafeMutablePointer<curl_slist>?
    private let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The error of the first setting that failed; nil if none failed.
    private(set) var setupError: CURLcode?
    var setting: Setting?
    /// The generation of the ``HandlePool`` for whose request the handle was set up; nil if it was never in the pool.
    var poolGeneration: Int?
    /// The path of the SSH key for a login without a password; nil for other logins.
    var onlyKey: String?

    init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        check(dlm_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorBuffer))
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(addresses)
        errorBuffer.deallocate()
    }

    func check(_ code: CURLcode) {
        if code != CURLE_OK, setupError == nil { setupError = code }
    }

    func set(_ option: CURLoption, _ value: Int) { check(dlm_set_long(pointer, option, value)) }

    func set(_ option: CURLoption, _ value: String) { check(dlm_set_string(pointer, option, value)) }

    func use(_ headers: HeaderLines) {
        self.headers = headers
        check(headers.list == nil ? CURLE_OUT_OF_MEMORY : dlm_set_pointer(pointer, CURLOPT_HTTPHEADER, headers.list))
    }

    /// Adds lines of CURLOPT_CONNECT_TO. The handle keeps the list, because libcurl does not copy the list.
    func connect(to lines: [String]) {
        for line in lines {
            guard let longer = curl_slist_append(addresses, line) else { return check(CURLE_OUT_OF_MEMORY) }
            addresses = longer
        }
        check(dlm_set_pointer(pointer, CURLOPT_CONNECT_TO, addresses))
    }

    // MARK: Results

    /// The HTTP version of the response; empty without a response. A server may write any version in its status line, but
    /// only a handle to which it is allowed can have negotiated another one than HTTP/1.
    var httpVersion: String {
        let version = String(cString: dlm_http_version_used(pointer))
        let isAllowed = setting.map { $0.version != DLM_HTTP_1_1 } ?? false
        return isAllowed || version.isEmpty || version.hasPrefix("1") ? version : "1.1"
    }

    func seconds(_ info: CURLINFO) -> Double {
        var value: curl_off_t = 0
        return dlm_get_offset(pointer, info, &value) == CURLE_OK ? Double(value) / 1_000_000 : 0
    }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return dlm_get_long(pointer, info, &value) == CURLE_OK ? value : 0
    }

    /// Returns a number about the transfer from libcurl, or nil if libcurl does not know the number.
    func offset(_ info: CURLINFO) -> Int64? {
        var value: curl_off_t = -1
        return dlm_get_offset(pointer, info, &value) == CURLE_OK && value >= 0 ? Int64(value) : nil
    }

    func string(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard dlm_get_string(pointer, info, &value) == CURLE_OK, let value else { return nil }
        return String(cString: value)
    }

    /// The address of the server or its proxy; nil before there is a connection.
    var remoteAddress: String? { string(CURLINFO_PRIMARY_IP).flatMap { $0.isEmpty ? nil : $0 } }

    func message(_ code: CURLcode) -> String {
        let text = String(cString: errorBuffer)
        return text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
    }

    func failure(_ code: CURLcode, of transfer: CurlTransfer) -> DownloadError {
        let request = transfer.request
        if code == CURLE_UNSUPPORTED_PROTOCOL, !request.url.isHTTP {
            return .requestInvalid(.missingProtocol(scheme: request.url.scheme))
        }
        if code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION {
            return .requestInvalid(.missingOption)
        }
        if let error = FileServerFailure(code, self, of: transfer)?.error { return error }
        let errno = Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO))
        if let path = request.options.unixSocket {
            return .transport(code, unixSocket: path, message: message(code), errno: errno)
        }
        // libcurl gives no error number if it got no socket.
        if code == CURLE_COULDNT_CONNECT, errno == 0, FreeDescriptors.isScarce {
            return .transport(code, message: String(cString: strerror(EMFILE)), errno: EMFILE)
        }
        // Some of libcurl's decoders return this code for content that they cannot decode. If the sink refused the
        // body, this method is not called.
        if code == CURLE_WRITE_ERROR, request.options.decodesContent {
            return .protocolViolated(.malformedReply("its content coding cannot be decoded"))
        }
        // No socket was connected, so there is no error of the system.
        if code == CURLE_COULDNT_CONNECT, errno == 0, request.options.network.refusesPrivateAddresses == true {
            return .transport(code, message: "\(request.url.host): \(PrivateAddress.refusal)", errno: 0)
        }
        // The reply of a SOCKS 5 proxy that refuses a login has no status code.
        let refusals = [CURLPX_NO_AUTH, CURLPX_USER_REJECTED].map { Int($0.rawValue) }
        if code == CURLE_PROXY, refusals.contains(number(CURLINFO_PROXY_ERROR)) {
            return .authenticationFailed(status: 407)
        }
        // This is the status of the proxy's answer to CONNECT. tinyproxy answers a wrong password with 401.
        switch number(CURLINFO_HTTP_CONNECTCODE) {
        case 401, 407: return .authenticationFailed(status: 407)
        case let status where status >= 400: return .serverRefused(status: status, phrase: "by the proxy")
        default: return .transport(code, message: message(code), errno: errno)
        }
    }

    func metrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.remoteAddress = remoteAddress
        metrics.remotePort = number(CURLINFO_PRIMARY_PORT)
        let version = httpVersion
        metrics.httpVersion = version.isEmpty ? nil : version
        metrics.status =
            metrics.httpVersion == nil ? nil : Optional(number(CURLINFO_RESPONSE_CODE)).flatMap { $0 > 0 ? $0 : nil }
        metrics.reusedConnection = number(CURLINFO_NUM_CONNECTS) == 0 && metrics.httpVersion != nil
        metrics.nameLookup = seconds(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = seconds(CURLINFO_CONNECT_TIME_T)
        metrics.tls = seconds(CURLINFO_APPCONNECT_TIME_T)
        metrics.firstByte = seconds(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.total = seconds(CURLINFO_TOTAL_TIME_T)
        return metrics
    }
}

/// The fields of a request as a list for libcurl. Handles share a list, because the requests of many downloads have the
/// same fields.
final class HeaderLines {
    let fields: HTTPFields
    /// The list; nil if there is no memory for it.
    let list: UnsafeMutablePointer<curl_slist>?

    /// - Parameter others: Further lines. There must be at least one line in all.
    init(_ fields: HTTPFields, others: [String]) {
        self.fields = fields
        var list: UnsafeMutablePointer<curl_slist>?
        for line in fields.map({ $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }) + others {
            guard let longer = curl_slist_append(list, line) else {
                curl_slist_free_all(list)
                list = nil
                break
            }
            list = longer
        }
        self.list = list
    }

    deinit { curl_slist_free_all(list) }
}
