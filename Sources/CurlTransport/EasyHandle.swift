import CCurl
import DownloadCore
import HTTPTypes

/// A libcurl easy handle with its lists and error buffer; made anew for each transfer, used on the engine thread only.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The first option that libcurl refused.
    private(set) var setupError: CURLcode?

    init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        check(dlm_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorBuffer))
    }

    deinit {
        curl_easy_cleanup(pointer)
        for list in lists { curl_slist_free_all(list) }
        errorBuffer.deallocate()
    }

    func check(_ code: CURLcode) {
        if code != CURLE_OK, setupError == nil { setupError = code }
    }

    func set(_ option: CURLoption, _ value: Int) { check(dlm_set_long(pointer, option, value)) }

    func set(_ option: CURLoption, _ value: String) { check(dlm_set_string(pointer, option, value)) }

    func set(_ option: CURLoption, lines: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else { return check(CURLE_OUT_OF_MEMORY) }
            list = longer
        }
        if let list { lists.append(list) }
        check(dlm_set_list(pointer, option, list))
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

    func failure(_ code: CURLcode, of request: TransferRequest) -> DownloadError {
        let errno = Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO))
        if let path = request.unixSocket {
            return .transport(code, unixSocket: path, message: message(code), errno: errno)
        }
        return .transport(code, message: message(code), errno: errno)
    }

    func metrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.remoteAddress = string(CURLINFO_PRIMARY_IP).flatMap { $0.isEmpty ? nil : $0 }
        metrics.remotePort = number(CURLINFO_PRIMARY_PORT)
        let version = httpVersion
        metrics.httpVersion = version.isEmpty ? nil : version
        metrics.reusedConnection = number(CURLINFO_NUM_CONNECTS) == 0 && metrics.httpVersion != nil
        metrics.nameLookup = seconds(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = seconds(CURLINFO_CONNECT_TIME_T)
        metrics.tls = seconds(CURLINFO_APPCONNECT_TIME_T)
        metrics.firstByte = seconds(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.total = seconds(CURLINFO_TOTAL_TIME_T)
        return metrics
    }
}
