import DownloadCore
import DownloadSystem
import Foundation

/// The sources of one attempt, which bring parts of the same file at the same time. The pool knows the connections of
/// each source, and the bytes that each source has brought. Only the attempt's task uses it.
final class SourcePool {
    struct Member {
        let url: SourceURL
        var route: RequestRoute
        /// The state of the URL that the source's own URL redirects to.
        var link = RedirectedLink()
        /// The validators in the answers of the source; nil before the first answer.
        var validators: Validators?
        /// The reason why the source is no longer used; nil while it is used.
        var failure: String?
        var strikes = 0
        /// The number of connections above which the source refused more.
        var limit = Int.max
        /// The download's share of the session's connections with the host; nil if there is no such share.
        var share: ConnectionShare?
        /// The number of connections that the host's budget allows for this download.
        var granted = Int.max
        var capacity: Int { min(limit, granted) }
        /// The ranges that came from the source in this attempt, except for pieces that were found to be wrong.
        var brought = ByteRanges()
    }

    private(set) var members: [Member]
    private let strictHosts: HSTSStore?
    private var assigned: [Int: Int]
    /// How often each piece was wrong, by the index of the piece.
    private var doubts: [Int: Int] = [:]

    private static let mostStrikes = 3
    private static let mostDoubts = 3

    /// - Parameters:
    ///   - first: the running connection, which fetches from the first source.
    ///   - strictHosts: the hosts that must be asked over https.
    init(
        _ urls: [SourceURL], first: Int, route: RequestRoute, validators: Validators, for request: DownloadRequest,
        upgradedBy strictHosts: HSTSStore? = nil
    ) {
        members = urls.enumerated().map { index, url in
            Member(url: url, route: index == 0 ? route : RequestRoute(url, of: request, upgradedBy: strictHosts))
        }
        self.strictHosts = strictHosts
        members[0].validators = validators
        assigned = [first: 0]
    }

    /// Creates a pool with a single source, for a download without mirrors or before its first answer.
    init(_ url: SourceURL) {
        members = [Member(url: url, route: RequestRoute(url))]
        strictHosts = nil
        assigned = [:]
    }

    /// Whether the file has several sources, including those that have failed.
    var isShared: Bool { members.count > 1 }
    var usable: Int { members.count { $0.failure == nil } }
    /// Whether bytes came from more than one source.
    var isMixed: Bool { members.count { !$0.brought.isEmpty } > 1 }

    /// Returns the source for a connection. A connection keeps its source, unless the source has failed, or unless
    /// other connections fill it while another source has room. Then the source with the fewest connections is chosen.
    /// - Parameter running: the connections that have a request.
    func member(for connection: Int, running: some Sequence<Int>) -> Int {
        let loads = loads(of: running.filter { $0 != connection })
        let free = members.indices.filter { members[$0].failure == nil && loads[$0] < members[$0].capacity }
        if let known = assigned[connection], members[known].failure == nil, free.isEmpty || free.contains(known) {
            return known
        }
        let all = members.indices.filter { members[$0].failure == nil }
        let chosen = (free.isEmpty ? all : free).min { (loads[$0], $0) < (loads[$1], $1) } ?? 0
        assigned[connection] = chosen
        return chosen
    }

    func member(of connection: Int) -> Int { assigned[connection] ?? 0 }

    func note(_ validators: Validators, of member: Int) {
        if members[member].validators == nil { members[member].validators = validators }
    }

    func note(_ range: Range<Int64>, from member: Int) { members[member].brought.insert(range) }

    /// Follows a redirect that was answered to a request of the connection.
    func follow(
        _ status: Int, to location: String, by connection: Int, of request: DownloadRequest
    ) throws(DownloadError) {
        let member = member(of: connection)
        guard members[member].link.follow(by: connection) else { return }
        let location = strictHosts?.upgraded(location: location, for: request) ?? location
        try members[member].route.follow(status, to: location, of: request)
    }

    /// Records a failure of a source.
    /// - Parameter isFinal: whether this one failure is enough to give up the source.
    /// - Returns: Whether the source is no longer used.
    func fail(_ member: Int, _ why: String, isFinal: Bool) -> Bool {
        members[member].strikes += 1
        guard isFinal || members[member].strikes >= Self.mostStrikes else { return false }
        members[member].failure = members[member].failure ?? why
        return true
    }

    /// Limits a source to the connections that it has. The given connection may use another source.
    func limit(_ member: Int, to count: Int, without connection: Int) {
        members[member].limit = min(members[member].limit, count)
        assigned[connection] = nil
    }

    /// Returns whether any source may have one more connection.
    func hasRoom(beside running: some Sequence<Int>) -> Bool {
        let loads = loads(of: running)
        return members.indices.contains { members[$0].failure == nil && loads[$0] < members[$0].capacity }
    }

    // MARK: URLs that a source redirects to

    /// Returns the kind of URL that the connection has asked.
    func link(of connection: Int, of request: DownloadRequest) -> FailedConnection.Link {
        let member = members[member(of: connection)]
        if member.link.isOutdated(for: connection) { return .proved }
        if member.route.url == ownRoute(of: member, request).url { return .own }
        return member.link.isProved ? .proved : .unproved
    }

    /// Records that bytes came from the URL that the connection has asked.
    func proveLink(of connection: Int, at now: Date) {
        members[member(of: connection)].link.prove(by: connection, at: now)
    }

    /// Lets the connection ask the source's own URL, because the URL after the redirects may have expired. Does nothing
    /// if the URL has been renewed since the connection asked it.
    func renew(_ member: Int, by connection: Int, of request: DownloadRequest) {
        guard members[member].link.renew(by: connection) else { return }
        members[member].route = ownRoute(of: members[member], request)
    }

    /// Prepares a request of the connection. Returns false if the request must wait until another connection has got a
    /// new URL from the source.
    func prepare(_ connection: Int, from member: Int, of request: DownloadRequest, at now: Date) -> Bool {
        guard members[member].link.ask(by: connection) else { return false }
        let url = members[member].route.url
        if members[member].link.isDue(url, at: now), url != ownRoute(of: members[member], request).url {
            renew(member, by: connection, of: request)
            return members[member].link.ask(by: connection)
        }
        return true
    }

    /// Records that the connection has got an answer that is no redirect.
    func endRenewal(by connection: Int) { members[member(of: connection)].link.endRenewal(by: connection) }

    private func ownRoute(of member: Member, _ request: DownloadRequest) -> RequestRoute {
        RequestRoute(member.url, of: request, upgradedBy: strictHosts)
    }

    // MARK: Other downloads of the session

    /// Gives each source a share of the session's connections to its host, so that each connection counts for the host
    /// of its source.
    /// - Parameter share: Creates the share for an origin.
    func join(first: ConnectionShare?, _ share: (String) -> ConnectionShare) {
        for index in members.indices { members[index].share = index == 0 ? first : share(members[index].url.origin) }
    }

    /// Returns how many connections the download may have to all its sources.
    /// - Parameter has: The number of connections that the planner has. With several sources, this number is not used,
    ///   because `running` shows the connections of each source.
    func grant(has: Int, wants: Int, running: some Sequence<Int>) -> Int {
        guard isShared else { return members[0].share?.grant(has: has, wants: wants) ?? wants }
        let loads = loads(of: running)
        let more = max(0, wants - loads.reduce(0, +))
        var granted = 0
        for index in members.indices where members[index].failure == nil {
            let wish = max(1, min(members[index].limit, loads[index] + more))
            members[index].granted = members[index].share?.grant(has: loads[index], wants: wish) ?? .max
            granted += min(wish, members[index].granted)
        }
        return granted
    }

    /// Gives back the connections that were granted and are not used. With a single source they are kept, because the
    /// planner opens them soon.
    func settle(running: some Sequence<Int>) {
        guard isShared else { return }
        let loads = loads(of: running)
        for index in members.indices {
            members[index].share?.settle(has: loads[index])
            if members[index].failure != nil { members[index].share = nil }
        }
    }

    func leaveHosts() { for index in members.indices { members[index].share = nil } }

    private func loads(of running: some Sequence<Int>) -> [Int] {
        var loads = [Int](repeating: 0, count: members.count)
        for other in running { if let member = assigned[other] { loads[member] += 1 } }
        return loads
    }

    /// Finds the sources that are to blame for a wrong piece. A source is to blame if it brought the whole piece in
    /// this attempt. When the piece is wrong for the third time, all sources that brought a part of it are to blame.
    /// - Returns: The sources that are no longer used because of this.
    func blame(_ piece: Int, _ range: Range<Int64>) -> [Int] {
        let suspects = members.indices.filter { members[$0].brought.overlaps(range) }
        let broughtAll = suspects.filter { members[$0].brought.contains(range) }
        for index in suspects { members[index].brought.remove(range) }
        doubts[piece, default: 0] += 1
        let guilty = doubts[piece, default: 0] >= Self.mostDoubts ? suspects : broughtAll
        for index in guilty { members[index].failure = members[index].failure ?? "it sends wrong bytes" }
        return guilty
    }
}
