import CCurl
import DownloadCore

extension CurlTransport {
    /// Returns what the installed libcurl can do, and the certificate authorities that libcurl trusts with this
    /// environment.
    /// - Throws: ``DownloadError`` if libcurl cannot be loaded.
    package static func features(environment: [String: String]) throws(DownloadError) -> TransportFeatures {
        try load()
        let found = dlm_curl_features()
        var features = TransportFeatures(version: text(found.version) ?? "")
        features.tls = text(found.tls)
        features.protocols = names(found.protocols)
        features.http2 = text(found.http2)
        features.http3 = text(found.http3)
        features.codings = [("gzip", found.zlib), ("br", found.brotli), ("zstd", found.zstd)]
            .compactMap { name, version in version == nil ? nil : name }
        features.ssh = text(found.ssh)
        features.resolvesAsynchronously = found.has_async_dns != 0
        features.resolver = text(found.resolver).map { "c-ares \($0)" }
        features.hasIPv6 = found.has_ipv6 != 0
        features.hasIDN = found.has_idn != 0
        features.hasPublicSuffixes = found.has_psl != 0
        features.hasHTTPSProxy = found.has_https_proxy != 0
        let authorities = CertificateAuthorities(environment: environment)
        features.authorities = .init(
            file: authorities.file ?? text(found.ca_file), folder: authorities.folder ?? text(found.ca_folder),
            origin: authorities.origin)
        if authorities.file != nil, authorities.folder == nil { features.authorities.folder = nil }
        return features
    }

    private static func text(_ text: UnsafePointer<CChar>?) -> String? { text.map { String(cString: $0) } }

    private static func names(_ list: UnsafePointer<UnsafePointer<CChar>?>?) -> [String] {
        guard var next = list else { return [] }
        var names: [String] = []
        while let name = next.pointee {
            names.append(String(cString: name))
            next += 1
        }
        return names
    }
}
