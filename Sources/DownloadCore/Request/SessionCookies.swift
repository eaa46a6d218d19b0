import Synchronization

/// The cookies that servers have set during a session, in memory only. A foreground session lives as long as its
/// command, so its downloads share the cookies. Downloads of a background session come from many commands, so each
/// download has its own cookies.
package final class SessionCookies: Sendable {
    package let areShared: Bool
    private let memories = Mutex<[String: CookieMemory]>([:])

    /// The maximum number of cookie memories. A background session may run for months, so at the maximum all memories
    /// are dropped.
    private static let most = 4096

    /// - Parameter areShared: Whether all downloads with the same user name and cookie file share their cookies.
    package init(areShared: Bool) { self.areShared = areShared }

    /// Returns the cookies of a download. Downloads with different user names or cookie files share nothing, because
    /// they may belong to different accounts. Returns nil for a download that keeps its cookies in a jar of the user.
    package func memory(of id: DownloadID, _ files: SecretFiles, user: String?) -> CookieMemory? {
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

/// The changes that servers made to a list of cookies. It can be used from every thread, because transfers of several
/// downloads may end at the same time.
package final class CookieMemory: Sendable {
    /// The changed cookies by domain, so that a request looks only at the cookies of its own host. Nil marks a deleted
    /// cookie.
    private let changes = Mutex<[String: [CookieList.Key: String?]]>([:])

    /// The limits keep servers from filling the memory.
    private static let mostDomains = 10_000
    private static let mostOfDomain = 300

    func applied(to lines: [String], for host: String) -> [String] {
        changes.withLock { changes in
            if changes.isEmpty { return lines }
            var lines = lines
            for domain in [host] + host.parentDomains {
                guard let changed = changes[domain] else { continue }
                lines = lines.filter { changed[CookieList.key($0)] == nil } + changed.values.compactMap(\.self)
            }
            return lines
        }
    }

    /// Records what one transfer changed. Cookies that the transfer did not change are left alone, because another
    /// transfer may have changed them meanwhile.
    package func learn(_ known: TransferResult.KnownCookies) {
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
}

extension CookieMemory: Equatable {
    /// Returns whether both are the same object. Equal contents are not enough.
    package static func == (first: CookieMemory, second: CookieMemory) -> Bool { first === second }
}
