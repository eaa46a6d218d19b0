import DownloadCore
import Foundation
import HTTPTypes
import Synchronization

/// The ``HSTSList`` of a session, in a file that all sessions share. The file is read on first use.
package final class HSTSStore: Sendable {
    private let path: String
    private let time: any TimeSource
    private let list = Mutex<HSTSList?>(nil)
    /// The queue for writes to the file. Writes are rare, and no caller waits for them.
    private let queue = DispatchQueue(label: "dlm.hsts", qos: .utility)

    /// - Parameter path: The absolute path of the file. Its folder is made when there is something to write.
    package init(path: String, time: any TimeSource = SystemTime()) {
        self.path = path
        self.time = time
    }

    /// Returns the path of the file in the user's cache, or nil without a home.
    package static func path(in environment: [String: String]) -> String? {
        if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") { return cache + "/dlm/hsts" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.cache/dlm/hsts"
    }

    /// Returns the URL, changed to https if its host requires https.
    package func upgraded(_ url: SourceURL) -> SourceURL {
        guard url.scheme == "http" else { return url }
        let isCovered = list.withLock { known(&$0).covers(url.host, at: time.date) }
        return isCovered ? url.overHTTPS ?? url : url
    }

    package func learn(_ field: String, of host: String) {
        let isNews = list.withLock { list in
            var known = known(&list)
            defer { list = known }
            return known.learn(field, of: host, at: time.date)
        }
        if isNews { queue.async { self.save(field, of: host) } }
    }

    /// Waits until everything learned so far is in the file.
    package func flush() { queue.sync {} }

    private func known(_ list: inout HSTSList?) -> HSTSList {
        let known = list ?? read()
        list = known
        return known
    }

    private func read() -> HSTSList {
        // A file that cannot be read counts as empty, because dlm works without the list.
        HSTSList((try? String(contentsOfFile: path, encoding: .utf8)) ?? "", now: time.date)
    }

    /// Saves the new entry, together with the entries that other sessions have written meanwhile. After a failure, a
    /// later session learns the host again.
    private func save(_ field: String, of host: String) {
        try? PrivateFolder.make((path as NSString).deletingLastPathComponent)
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { return }
        defer { close(lock) }
        guard flock(lock, LOCK_EX) == 0 else { return }
        var list = read()
        _ = list.learn(field, of: host, at: time.date)
        let draft = path + ".new"
        _ = FileBytes.make(draft, with: list.text(at: time.date)) { rename(draft, path) == 0 }
    }
}

extension HSTSStore {
    fileprivate func upgraded(_ url: SourceURL, for download: DownloadRequest) -> SourceURL {
        download.http.upgradesKnownHosts == false ? url : upgraded(url)
    }

    /// Returns the target of a redirect, changed to https if its host requires https.
    package func upgraded(location: String, for download: DownloadRequest) -> String {
        guard case .success(let target) = SourceURL.parse(location) else { return location }
        let upgraded = upgraded(target.url, for: download)
        return upgraded == target.url ? location : upgraded.string
    }

    /// Records what the HSTS field of an answer says about the host that sent the answer. Only answers over
    /// verified https are believed (RFC 6797 section 8.1).
    package func learn(_ head: ResponseHead, _ url: SourceURL, of download: DownloadRequest) {
        guard url.scheme == "https", download.trust.verifiesServer, download.http.upgradesKnownHosts != false,
            let field = head.fields.values(.strictTransportSecurity).first
        else { return }
        learn(field, of: url.host)
    }
}

extension RequestRoute {
    /// Begins a route at a source of the request.
    /// - Parameters:
    ///   - strictHosts: The hosts that must be asked over https.
    ///   - sendsCredentials: Whether credentials are sent. Nil to send them if the source has the origin of the
    ///     request's own URL.
    package init(
        _ source: SourceURL, of request: DownloadRequest, upgradedBy strictHosts: HSTSStore?,
        sendsCredentials: Bool? = nil
    ) {
        self.init(
            strictHosts?.upgraded(source, for: request) ?? source,
            sendsCredentials: sendsCredentials ?? source.hasOrigin(of: request.url))
    }
}
