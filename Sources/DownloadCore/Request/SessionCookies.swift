import Synchronization

/// What servers have set while a session lasts, in memory only. A foreground session lives as long as its command, so its
/// downloads share what the servers set. Downloads of a background session come from many commands, so each of them has
/// cookies of its own.
package final class SessionCookies: Sendable {
    private let areShared: Bool
    private let memories = Mutex<[String: CookieMemory]>([:])

    /// A background session may run for months: the cookies of downloads long gone are dropped together.
    private static let most = 4096

    /// - Parameter areShared: true where all downloads with the same cookie file share what is set.
    package init(areShared: Bool) { self.areShared = areShared }

    /// Returns the cookies of a download. Downloads with different names of users or cookie files may belong to different
    /// accounts, and share nothing. Returns nil for a download that keeps its cookies in a file of the user's.
    func memory(of id: DownloadID, _ files: SecretFiles, user: String?) -> CookieMemory? {
        guard files.cookieJar == nil else { return nil }
        let key = areShared ? "\(user ?? "")\n\(files.cookies ?? "")" : "\(id)"
        return memories.withLock { memories in
            if let known = memories[key] { return known }
            if memories.count >= Self.most { memories = [:] }
            let new = CookieMemory()
            memories[key] = new
            return new
        }
    }
}

/// What servers have changed in a list of cookies. Safe from every thread: transfers of several downloads end at once.
final class CookieMemory: Sendable {
    /// By domain, so that a request looks at the cookies of its own host only. Nil is a cookie that a server deleted.
    private let changes = Mutex<[String: [CookieList.Key: String?]]>([:])

    /// A server cannot fill the memory.
    private static let mostDomains = 10_000
    private static let mostOfDomain = 300

    /// Returns the lines with all that was changed for the host.
    func applied(to lines: [String], for host: String) -> [String] {
        changes.withLock { changes in
            if changes.isEmpty { return lines }
            var lines = lines
            for domain in Self.domains(of: host) {
                guard let changed = changes[domain] else { continue }
                lines = lines.filter { changed[CookieList.key($0)] == nil } + changed.values.compactMap(\.self)
            }
            return lines
        }
    }

    /// Records what one transfer changed. What it left alone another transfer may have changed meanwhile.
    func learn(_ known: TransferResult.KnownCookies) {
        let (changed, gone) = CookieList.differences(known)
        if changed.isEmpty, gone.isEmpty { return }
        changes.withLock { changes in
            for line in changed { Self.enter(line, CookieList.key(line), &changes) }
            for key in gone { Self.enter(nil, key, &changes) }
        }
    }

    private static func enter(
        _ line: String?, _ key: CookieList.Key, _ changes: inout [String: [CookieList.Key: String?]]
    ) {
        let isKnown = changes[key.domain] != nil
        guard isKnown || changes.count < mostDomains else { return }
        var ofDomain = changes[key.domain] ?? [:]
        guard ofDomain[key] != nil || ofDomain.count < mostOfDomain else { return }
        ofDomain.updateValue(line, forKey: key)
        changes[key.domain] = ofDomain
    }

    /// Returns the host and everything it lies below.
    private static func domains(of host: String) -> [String] {
        var domains = [host]
        var rest = host[...]
        while let dot = rest.firstIndex(of: "."), domains.count < 128 {
            rest = rest[rest.index(after: dot)...]
            domains.append(String(rest))
        }
        return domains
    }
}

extension CookieMemory: Equatable {
    /// The same cookies, not only equal ones.
    static func == (first: CookieMemory, second: CookieMemory) -> Bool { first === second }
}
