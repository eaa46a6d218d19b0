import DownloadCore
import Foundation

/// How a request is made and goes its way, as `POST /v1/downloads` and `resume` take it under `options`. Nil is what was
/// not asked for. Secrets, which the values themselves never encode, stand beside them.
struct WireOptions: Codable, Sendable, Equatable {
    var http: HTTPOptions?
    /// The bytes of the body.
    var data: Base64?
    var secretFiles: SecretFiles?
    var trust: ServerTrustPolicy?
    var network: NetworkSettings?
    var proxyPassword: String?
    var schemes: [String]?

    /// Nil when there is nothing to say.
    init?(
        http: HTTPOptions, secretFiles: SecretFiles, trust: ServerTrustPolicy?, network: NetworkSettings,
        schemes: [String]?
    ) {
        self.http = http == HTTPOptions() ? nil : http
        data = http.body?.bytes.map { Base64(bytes: $0) }
        self.secretFiles = secretFiles == SecretFiles() ? nil : secretFiles
        // Told by `insecure` where that is all.
        self.trust = trust == .system || trust == .insecure ? nil : trust
        self.network = network == NetworkSettings() ? nil : network
        proxyPassword = network.proxy?.credential?.password
        self.schemes = schemes
        if self == WireOptions() { return nil }
    }

    private init() {}

    /// With what stands beside the values.
    var givenHTTP: HTTPOptions {
        var http = http ?? HTTPOptions()
        if let data { http.body = RequestBody(data.bytes) }
        return http
    }

    var givenNetwork: NetworkSettings {
        var network = network ?? NetworkSettings()
        if let user = network.proxy?.credential?.user, let proxyPassword {
            network.proxy?.credential = Credential(user: user, password: proxyPassword)
        }
        return network
    }
}

/// Bytes as text, whatever encodes them.
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
