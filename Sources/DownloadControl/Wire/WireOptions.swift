import DownloadCore
import Foundation

/// The options for how a request is sent, as `POST /v1/downloads` and `resume` take them under `options`. An option
/// that was not given is nil. The values themselves never encode secrets, so secrets have their own fields.
struct WireOptions: Codable, Sendable, Equatable {
    var http: HTTPOptions?
    /// The bytes of the request's body.
    var data: Base64?
    var secretFiles: SecretFiles?
    var trust: ServerTrustPolicy?
    var network: NetworkSettings?
    var proxyPassword: String?
    var schemes: [String]?

    /// Returns nil if there are no options to send.
    init?(
        http: HTTPOptions, secretFiles: SecretFiles, trust: ServerTrustPolicy?, network: NetworkSettings,
        schemes: [String]?
    ) {
        self.http = http == HTTPOptions() ? nil : http
        data = http.body?.bytes.map { Base64(bytes: $0) }
        self.secretFiles = secretFiles == SecretFiles() ? nil : secretFiles
        // For these two policies the field `insecure` is enough.
        self.trust = trust == .system || trust == .insecure ? nil : trust
        self.network = network == NetworkSettings() ? nil : network
        proxyPassword = network.proxy?.credential?.password
        self.schemes = schemes
        if self == WireOptions() { return nil }
    }

    private init() {}

    /// The HTTP options, with the bytes of the body.
    var givenHTTP: HTTPOptions {
        var http = http ?? HTTPOptions()
        if let data { http.body = RequestBody(data.bytes) }
        return http
    }

    /// The network settings, with the password of the proxy.
    var givenNetwork: NetworkSettings {
        get throws(WireProblem) {
            var network = network ?? NetworkSettings()
            guard let given = network.proxy else { return network }
            var proxy: ProxyAddress
            do throws(ProxyAddress.ParseError) { proxy = try ProxyAddress.parse(given.url) } catch {
                throw WireProblem("options.network.proxy.url: \(error.words)")
            }
            if let own = given.credential {
                proxy.credential = Credential(user: own.user, password: proxyPassword ?? own.password)
            }
            network.proxy = proxy
            return network
        }
    }
}

/// Bytes that every encoder writes as base64 text.
struct Base64: Codable, Sendable, Equatable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let data = Data(base64Encoded: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not base64")
        }
        bytes = Array(data)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes).base64EncodedString())
    }
}
