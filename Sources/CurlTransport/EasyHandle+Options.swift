import CCurl
import DownloadCore
import HTTPTypes

/// The options of every transfer. Their values are based on measurements (docs/internals/engine.md).
extension EasyHandle {
    struct Setting: Equatable {
        var bufferSize: Int
        var version: dlm_http_version
        /// Whether libcurl waits for an existing connection instead of opening another. True if the server is known
        /// to speak HTTP/2.
        var waitsForConnection: Bool
        /// The offset at which a transfer without HTTP begins, in bytes.
        var offset: Int64 = 0
        /// Whether to list the URL as a folder, to find out whether it is a folder.
        var listsFolder = false
    }

    /// Sets the options of the handle for a request, except for the method, the body and the header fields.
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
        check(dlm_set_http_version(pointer, setting.version))
        set(CURLOPT_PIPEWAIT, setting.waitsForConnection ? 1 : 0)
        // libcurl accepts at most Int32.max ms, some 24 days.
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, min(request.options.connectTimeout * 1000, Double(Int32.max)))))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, 30)
        set(CURLOPT_TCP_KEEPINTVL, 15)
        // Many servers close an idle connection after a minute, and a request on a stale connection fails.
        set(CURLOPT_MAXAGE_CONN, 55)
        if let path = request.options.unixSocket {
            set(CURLOPT_UNIX_SOCKET_PATH, path)
            set(CURLOPT_PROXY, "")
            // A path does not identify a socket. By now, another socket may be bound to the path. Or the path is below
            // /proc/self/fd/N, and descriptor N now refers to another folder.
            set(CURLOPT_FORBID_REUSE, 1)
        }
    }

    /// Sets the options of an HTTP request. The caller judges redirects and error statuses: libcurl reports them as
    /// ordinary responses.
    private func configureRequest(_ request: TransferRequest) {
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_FAILONERROR, 0)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let range = request.range { set(CURLOPT_RANGE, range) }
        // An empty string stands for all codings that libcurl can decode.
        if request.options.decodesContent { set(CURLOPT_ACCEPT_ENCODING, "") }
        // On a reused connection that is dead, libcurl would send the request again. These methods are not idempotent
        // (RFC 9110 section 9.2.2).
        if [.post, .patch].contains(request.options.method) { set(CURLOPT_FRESH_CONNECT, 1) }
        configureCookies(request)
        if let credential = request.options.credential {
            authenticate(credential, by: request.options.authentication ?? .basic)
            if let signature = request.options.signature { set(CURLOPT_AWS_SIGV4, signature) }
        }
    }

    func authenticate(_ credential: Credential, by scheme: HTTPAuthentication) {
        let kind =
            switch scheme {
            case .basic: DLM_BASIC
            case .digest: DLM_DIGEST
            case .ntlm: DLM_NTLM
            case .negotiate: DLM_NEGOTIATE
            case .any: DLM_ANY_AUTHENTICATION
            }
        check(dlm_use_authentication(pointer, kind, credential.user, credential.password ?? ""))
    }

    /// Sets the method, body and fields of the request.
    /// - Parameter last: the fields of the last request without a body. They are reused if the fields of this request
    ///   are the same.
    func setFields(of request: TransferRequest, _ last: inout HeaderLines?) {
        let others = configureMethod(request)
        var fields = request.options.fields
        if request.cookies != nil, fields.contains(where: { $0.name == .cookie }) { fields[.cookie] = nil }
        if others.isEmpty, let last, last.fields.elementsEqual(fields) { return use(last) }
        if others.isEmpty, fields.isEmpty { return }
        let headers = HeaderLines(fields, others: others)
        use(headers)
        if others.isEmpty { last = headers }
    }

    /// Sets the method and the body. Returns the lines that keep libcurl from adding its own fields to a request with
    /// a body.
    private func configureMethod(_ request: TransferRequest) -> [String] {
        if request.options.method == .head, request.options.body == nil {
            set(CURLOPT_NOBODY, 1)
            return []
        }
        // POST, PUT and PATCH send an empty body if the request has no body. Other methods send none.
        let body = request.options.body ?? ([.post, .put, .patch].contains(request.options.method) ? [] : nil)
        if let body {
            check(dlm_set_body(pointer, body, body.count))
        }
        if request.options.method != .get || body != nil { set(CURLOPT_CUSTOMREQUEST, request.options.method.rawValue) }
        guard body != nil else { return [] }
        return [HTTPField.Name.contentType, .expect].filter { request.options.fields[$0] == nil }.map { "\($0):" }
    }
}
