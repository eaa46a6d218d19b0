import CCurl
import DownloadCore
import HTTPTypes

/// The options of every transfer; the reasons are measured ones (docs/architecture.md).
extension EasyHandle {
    struct Setting: Equatable {
        var bufferSize: Int
        var multiplexes: Bool
        /// The server is known to speak HTTP/2: wait for its connection rather than open another.
        var waitsForConnection: Bool
        /// Where to begin, without HTTP.
        var offset: Int64 = 0
        /// What is in it, if it is a folder.
        var listsFolder = false
    }

    /// Sets the handle up for a request, but for its fields.
    func configure(for request: TransferRequest, setting: Setting, shared: SharedState) {
        self.setting = setting
        set(CURLOPT_URL, request.url.string + (setting.listsFolder ? "/" : ""))
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_NOPROGRESS, 1)
        set(CURLOPT_BUFFERSIZE, setting.bufferSize)
        check(dlm_do_not_wait_for_resolver(pointer))
        configureNetwork(request, shared)
        configureConnection(request, setting)
        configureTrust(request, shared.authorities)
        if request.url.isHTTP {
            configureRequest(request)
        } else {
            configureFileServer(request, setting, shared.logins)
        }
    }

    private func configureConnection(_ request: TransferRequest, _ setting: Setting) {
        check(dlm_restrict_protocols(pointer, request.url.isHTTP ? nil : request.url.scheme))
        check(dlm_set_http_version(pointer, setting.multiplexes ? DLM_HTTP_2_OVER_TLS : DLM_HTTP_1_1))
        set(CURLOPT_PIPEWAIT, setting.waitsForConnection ? 1 : 0)
        // Of a longer time than it can count, libcurl takes some 24 days.
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, min(request.connectTimeout * 1000, Double(Int32.max)))))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, 30)
        set(CURLOPT_TCP_KEEPINTVL, 15)
        // Many servers close an idle connection after a minute; a stale one costs a failed request.
        set(CURLOPT_MAXAGE_CONN, 55)
        if let path = request.unixSocket {
            set(CURLOPT_UNIX_SOCKET_PATH, path)
            set(CURLOPT_PROXY, "")
            // A path is no identity: another socket may be bound there by now, or another folder have that number.
            set(CURLOPT_FORBID_REUSE, 1)
        }
    }

    /// Redirects and failure statuses are judged by the caller: libcurl reports them as ordinary answers.
    private func configureRequest(_ request: TransferRequest) {
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_FAILONERROR, 0)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let range = request.range { set(CURLOPT_RANGE, range) }
        // All that it can decode.
        if request.decodesContent { set(CURLOPT_ACCEPT_ENCODING, "") }
        // On a connection that died unused it would send the request again (RFC 9110 section 9.2.2).
        if [.post, .patch].contains(request.method) { set(CURLOPT_FRESH_CONNECT, 1) }
        configureCookies(request)
        if let credential = request.credential {
            let kind =
                switch request.authentication ?? .basic {
                case .basic: DLM_BASIC
                case .digest: DLM_DIGEST
                case .ntlm: DLM_NTLM
                case .negotiate: DLM_NEGOTIATE
                case .any: DLM_ANY_AUTHENTICATION
                }
            check(dlm_use_authentication(pointer, kind, credential.user, credential.password ?? ""))
            if let signature = request.signature { set(CURLOPT_AWS_SIGV4, signature) }
        }
    }

    /// Shows the name and password as a digest only, once the server has asked for it.
    func answerWithDigest(_ credential: Credential) {
        check(dlm_use_authentication(pointer, DLM_DIGEST, credential.user, credential.password ?? ""))
    }

    /// The request's method, body and fields.
    /// - Parameter last: the fields that the last one without a body had; they are used again where they are the same.
    func setFields(of request: TransferRequest, _ last: inout HeaderLines?) {
        let others = configureMethod(request)
        var fields = request.fields
        if request.cookies != nil, fields.contains(where: { $0.name == .cookie }) { fields[.cookie] = nil }
        if others.isEmpty, let last, last.fields.elementsEqual(fields) { return use(last) }
        if others.isEmpty, fields.isEmpty { return }
        let headers = HeaderLines(fields, others: others)
        use(headers)
        if others.isEmpty { last = headers }
    }

    /// Returns the lines that keep libcurl from adding fields of its own to a body.
    private func configureMethod(_ request: TransferRequest) -> [String] {
        if request.method == .head, request.body == nil {
            set(CURLOPT_NOBODY, 1)
            return []
        }
        // Those whose request has a body by nature say that it is empty; the others say nothing.
        let body = request.body ?? ([.post, .put, .patch].contains(request.method) ? [] : nil)
        if let body {
            check(dlm_set_body(pointer, body, body.count))
        }
        if request.method != .get || body != nil { set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
        guard body != nil else { return [] }
        return [HTTPField.Name.contentType, .expect].filter { request.fields[$0] == nil }.map { "\($0):" }
    }
}
