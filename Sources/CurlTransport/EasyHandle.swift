import CCurl
import DownloadCore
import HTTPTypes

/// A libcurl easy handle with its lists and error buffer. It serves one transfer at a time (``HandlePool``), on the engine
/// thread only.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private var headers: HeaderLines?
    private var addresses: UnsafeMutablePointer<curl_slist>?
    private let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The first option that libcurl refused.
    private(set) var setupError: CURLcode?
    /// What it was set up for.
    var setting: Setting?
    /// What it logs in with over SSH, where it has no password.
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
        check(headers.list == nil ? CURLE_OUT_OF_MEMORY : dlm_set_list(pointer, CURLOPT_HTTPHEADER, headers.list))
    }

    /// Lines of CURLOPT_CONNECT_TO, which libcurl does not copy.
    func connect(to lines: [String]) {
        for line in lines {
            guard let longer = curl_slist_append(addresses, line) else { return check(CURLE_OUT_OF_MEMORY) }
            addresses = longer
        }
        check(dlm_set_list(pointer, CURLOPT_CONNECT_TO, addresses))
    }

    // MARK: What came of it

    var httpVersion: String { String(cString: dlm_http_version_used(pointer)) }

    func seconds(_ info: CURLINFO) -> Double {
        var value: curl_off_t = 0
        return dlm_get_offset(pointer, info, &value) == CURLE_OK ? Double(value) / 1_000_000 : 0
    }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return dlm_get_long(pointer, info, &value) == CURLE_OK ? value : 0
    }

    func string(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard dlm_get_string(pointer, info, &value) == CURLE_OK, let value else { return nil }
        return String(cString: value)
    }

    /// libcurl's own words for the failure.
    func message(_ code: CURLcode) -> String {
        let text = String(cString: errorBuffer)
        return text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
    }

    func failure(_ code: CURLcode, of transfer: CurlTransfer) -> DownloadError {
        let request = transfer.request
        if code == CURLE_UNSUPPORTED_PROTOCOL, !request.url.isHTTP {
            return .requestInvalid(.missingProtocol(request.url.string, scheme: request.url.scheme))
        }
        if code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION {
            return .requestInvalid(.notForScheme(request.url.string, what: RequestFailure.beyondLibcurl))
        }
        if let remote = transfer.remote, let error = fileServerFailure(code, remote, request.url) { return error }
        let errno = Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO))
        if let path = request.unixSocket {
            return .transport(code, unixSocket: path, message: message(code), errno: errno)
        }
        // Some of libcurl's decoders call what they cannot decode so; the sink's own refusals are not asked about here.
        if code == CURLE_WRITE_ERROR, request.decodesContent {
            return .protocolViolated(.malformedReply("its content coding cannot be decoded"))
        }
        // SOCKS 5 has no numbers for it.
        let refusals = [CURLPX_NO_AUTH, CURLPX_USER_REJECTED].map { Int($0.rawValue) }
        if code == CURLE_PROXY, refusals.contains(number(CURLINFO_PROXY_ERROR)) {
            return .authenticationFailed(status: 407)
        }
        // Of the proxy, to the question for a tunnel; tinyproxy calls a wrong password 401.
        switch number(CURLINFO_HTTP_CONNECTCODE) {
        case 401, 407: return .authenticationFailed(status: 407)
        case let status where status >= 400: return .serverRefused(status: status, phrase: "by the proxy")
        default: return .transport(code, message: message(code), errno: errno)
        }
    }

    func metrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.remoteAddress = string(CURLINFO_PRIMARY_IP).flatMap { $0.isEmpty ? nil : $0 }
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

/// The fields of a request as libcurl takes them. Handles share one, for those of many downloads are the same.
final class HeaderLines {
    let fields: HTTPFields
    /// Nil without memory for it.
    let list: UnsafeMutablePointer<curl_slist>?

    /// - Parameter others: whole lines besides; at least one line there must be.
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
