import DownloadKit

/// The findings about libcurl and the certificate authorities that it trusts.
enum TransferFindings {
    static func findings(_ features: TransportFeatures, _ authorities: [AuthorityCheck]) -> [Finding] {
        [
            .ok(.transfers, "libcurl", features.version), tls(features), versions(features), protocols(features),
            codings(features), names(features),
        ] + self.authorities(features.authorities, authorities)
    }

    static func verification(_ trust: ServerTrustPolicy) -> [Finding] {
        if trust.verifiesServer { return [] }
        return [
            .warning(
                .transfers, "verification", "certificates are not verified (--insecure)",
                advice:
                    "anybody on the network path can change downloads; give --ca-certificate instead, or a --checksum")
        ]
    }

    private static func tls(_ features: TransportFeatures) -> Finding {
        guard let tls = features.tls else {
            return .problem(.transfers, "TLS", 5, "none", advice: "install a libcurl with TLS (Debian: libcurl4)")
        }
        guard tls.hasPrefix("OpenSSL") else {
            return .warning(
                .transfers, "TLS", tls,
                advice: "dlm needs OpenSSL to prove the end of a body without a length; install a libcurl with OpenSSL")
        }
        return .ok(.transfers, "TLS", tls)
    }

    private static func versions(_ features: TransportFeatures) -> Finding {
        let known = [("HTTP/1.1", ""), ("HTTP/2", features.http2), ("HTTP/3", features.http3)]
        let there = known.compactMap { name, by in by.map { $0.isEmpty ? name : "\(name) (\($0))" } }
        let text = there.joined(separator: ", ") + (features.http3 == nil ? "; no HTTP/3" : "")
        guard features.http2 == nil else { return .ok(.transfers, "versions", text) }
        return .warning(
            .transfers, "versions", text + ", no HTTP/2",
            advice: "many small files are slower; install a libcurl with nghttp2")
    }

    private static func protocols(_ features: TransportFeatures) -> Finding {
        let used = ["http", "https"]
        let missing = used.filter { !features.protocols.contains($0) }
        guard missing.isEmpty else {
            return .problem(
                .transfers, "protocols", 1, "no \(missing.joined(separator: ", "))", advice: "install another libcurl")
        }
        let names = used + ["ftp", "ftps", "sftp", "scp", "file"]
        let known = names.map { ($0, $0 == "file" || features.protocols.contains($0)) }
        return .ok(.transfers, "protocols", Finding.list(known))
    }

    private static func codings(_ features: TransportFeatures) -> Finding {
        let missing = ["gzip", "br", "zstd"].filter { !features.codings.contains($0) }
        let text = features.codings.isEmpty ? "none" : features.codings.joined(separator: ", ")
        return .ok(.transfers, "codings", text + (missing.isEmpty ? "" : "; no " + missing.joined(separator: ", ")))
    }

    private static func names(_ features: TransportFeatures) -> Finding {
        let how = features.resolvesAsynchronously ? features.resolver ?? "asynchronous" : "synchronous"
        let text = Finding.list([
            ("\(how) name lookup", true), ("IPv6", features.hasIPv6), ("IDN", features.hasIDN),
            ("public suffixes", features.hasPublicSuffixes), ("HTTPS proxies", features.hasHTTPSProxy),
        ])
        guard features.resolvesAsynchronously else {
            return .warning(
                .transfers, "features", text,
                advice: "a slow name server delays all transfers; install another libcurl")
        }
        return .ok(.transfers, "features", text)
    }

    private static func authorities(
        _ authorities: TransportFeatures.Authorities, _ checks: [AuthorityCheck]
    ) -> [Finding] {
        let origin = authorities.origin.map { " (\($0))" } ?? ""
        let advice =
            authorities.origin.map { "correct \($0), or unset it" }
            ?? "install the authorities (Debian: ca-certificates), or name a file with CURL_CA_BUNDLE"
        if checks.isEmpty {
            return [.problem(.transfers, "authorities", 5, "no certificate authorities are known", advice: advice)]
        }
        // One usable file or folder of authorities is enough for downloads.
        let works = checks.contains { $0.count ?? 0 > 0 }
        return checks.map { check in
            let text = "\(check.path)\(origin): \(check.text)"
            if check.count ?? 0 > 0 { return .ok(.transfers, "authorities", text) }
            return works
                ? .warning(.transfers, "authorities", text, advice: advice)
                : .problem(.transfers, "authorities", 5, text, advice: advice)
        }
    }
}
