import DownloadKit
import Glibc

/// The proxies that dlm uses: the proxy of the options and settings, otherwise the proxies of the environment. The
/// environment is read in the same way as by libcurl (libcurl-env(3)).
struct ProxyEnvironment: Equatable, Sendable {
    struct Named: Equatable, Sendable {
        let variable: String
        let value: String

        /// The value without user name and password, for messages.
        var shown: String { SourceURL.hidingUserInformation(value) }
    }

    private let environment: [String: String]
    private let settings: NetworkSettings

    init(_ environment: [String: String], _ settings: NetworkSettings = NetworkSettings()) {
        self.environment = environment.filter { !$0.value.isEmpty }
        self.settings = settings
    }

    private static let general = ["all_proxy", "ALL_PROXY"]

    /// Returns the variables that name a proxy for a scheme. HTTP_PROXY is left out: in a CGI program, the client that
    /// sends the request can set this variable.
    private static func names(_ scheme: String) -> [String] {
        ["\(scheme)_proxy"] + (scheme == "http" ? [] : ["\(scheme.uppercased())_PROXY"])
    }

    static let variables = SourceScheme.names.flatMap(names) + general

    func proxy(scheme: String) -> Named? {
        if let proxy = settings.proxy {
            return proxy.url.isEmpty ? nil : Named(variable: "--proxy", value: proxy.url)
        }
        // Files of this machine are read without a proxy.
        return scheme == SourceScheme.file.rawValue ? nil : first(Self.names(scheme) + Self.general)
    }

    var exceptions: Named? {
        settings.noProxy.map { $0.isEmpty ? nil : Named(variable: "--no-proxy", value: $0) }
            ?? first(["no_proxy", "NO_PROXY"])
    }

    /// The variable HTTP_PROXY, which libcurl does not read. Nil if it is not set, or if http_proxy or an option names
    /// a proxy.
    var ignored: Named? {
        environment["http_proxy"] == nil && settings.proxy == nil ? first(["HTTP_PROXY"]) : nil
    }

    private func first(_ names: [String]) -> Named? {
        names.lazy.compactMap { name in environment[name].map { Named(variable: name, value: $0) } }.first
    }

    /// Returns the proxy through which a request for the URL is sent.
    func proxy(for url: SourceURL) -> Named? {
        guard let proxy = proxy(scheme: url.scheme) else { return nil }
        return exceptions.map { Self.isException(url.host, in: $0.value) } ?? false ? nil : proxy
    }

    static func isException(_ host: String, in list: String) -> Bool {
        let host = host.trimming("[]")
        return list == "*"
            || list.split { $0 == "," || $0 == " " }.contains { word in
                let word = word.lowercased().trimming("[]")
                if let slash = word.firstIndex(of: "/") {
                    return Int(word[word.index(after: slash)...])
                        .map { contains(host, network: String(word[..<slash]), bits: $0) } ?? false
                }
                let name = word.drop { $0 == "." }
                return !name.isEmpty && (host == name || host.hasSuffix("." + name))
            }
    }

    private static func contains(_ host: String, network: String, bits: Int) -> Bool {
        for family in [AF_INET, AF_INET6] {
            guard let address = bytes(host, family), let base = bytes(network, family) else { continue }
            guard (0...address.count * 8).contains(bits) else { return false }
            return (0..<bits).allSatisfy { bit in
                let mask = UInt8(0x80) >> (bit % 8)
                return address[bit / 8] & mask == base[bit / 8] & mask
            }
        }
        return false
    }

    private static func bytes(_ text: String, _ family: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    var findings: [Finding] {
        var findings = ["http", "https"].map(finding)
        if let ignored {
            findings.append(
                .warning(
                    .transfers, "proxy", "HTTP_PROXY is set, but not used: \(ignored.shown)",
                    advice: "set http_proxy instead"))
        }
        if let exceptions {
            findings.append(.ok(.transfers, "no proxy", "\(exceptions.value) (\(exceptions.variable))"))
        }
        return findings
    }

    private func finding(scheme: String) -> Finding {
        let name = "\(scheme) proxy"
        guard let proxy = proxy(scheme: scheme) else { return .ok(.transfers, name, "none") }
        let text = "\(proxy.shown) (\(proxy.variable))"
        do throws(ProxyAddress.ParseError) { _ = try ProxyAddress.parse(proxy.value) } catch {
            return .problem(.transfers, name, 2, "\(text): \(error.words)", advice: "correct \(proxy.variable)")
        }
        return .ok(.transfers, name, text)
    }
}

extension String {
    fileprivate func trimming(_ characters: String) -> String {
        String(drop { characters.contains($0) }.reversed().drop { characters.contains($0) }.reversed())
    }
}
