import Foundation

/// The sources of one attempt that bring parts of the same file at the same time: which connection asks which, and what
/// each has brought. Used by the task of the runner.
final class SourcePool {
    struct Member {
        let url: SourceURL
        var route: RequestRoute
        /// Of its answers; nil before the first one.
        var validators: Validators?
        /// Why it is asked no more.
        var failure: String?
        /// Connections that ended badly.
        var strikes = 0
        /// More than so many it does not take.
        var limit = Int.max
        /// In the connections with its host; nil: nobody else's count.
        var share: ConnectionShare?
        /// More than so many are not for this download, others of the session being there, too.
        var granted = Int.max
        var capacity: Int { min(limit, granted) }
        /// What came from it, and may not be verified yet.
        var brought = ByteRanges()
    }

    private(set) var members: [Member]
    private let strictHosts: HSTSStore?
    private var assigned: [Int: Int]
    /// How often a piece was wrong.
    private var doubts: [Int: Int] = [:]

    private static let mostStrikes = 3
    private static let mostDoubts = 3

    /// - Parameters:
    ///   - first: runs already, and brings the first member's.
    ///   - strictHosts: hosts that are asked over https in any case.
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

    /// The only source of a download, or of its first answer.
    init(_ url: SourceURL) {
        members = [Member(url: url, route: RequestRoute(url))]
        strictHosts = nil
        assigned = [:]
    }

    /// Several sources bring parts of the file.
    var isShared: Bool { members.count > 1 }
    var usable: Int { members.count { $0.failure == nil } }
    /// Bytes came from more than one.
    var isMixed: Bool { members.count { !$0.brought.isEmpty } > 1 }

    /// The member that a connection asks: as before, if it takes one more, or the one with the fewest connections.
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

    func follow(_ status: Int, to location: String, from member: Int, of request: DownloadRequest) throws(DownloadError)
    {
        try members[member].route.follow(status, to: location, of: request, upgradedBy: strictHosts)
    }

    /// - Parameter isFinal: one such failure is enough.
    /// - Returns: whether it is asked no more.
    func fail(_ member: Int, _ why: String, isFinal: Bool) -> Bool {
        members[member].strikes += 1
        guard isFinal || members[member].strikes >= Self.mostStrikes else { return false }
        members[member].failure = members[member].failure ?? why
        return true
    }

    /// It takes no more connections than it has; this one may ask another.
    func limit(_ member: Int, to count: Int, without connection: Int) {
        members[member].limit = min(members[member].limit, count)
        assigned[connection] = nil
    }

    /// Somebody takes one more.
    func hasRoom(beside running: some Sequence<Int>) -> Bool {
        let loads = loads(of: running)
        return members.indices.contains { members[$0].failure == nil && loads[$0] < members[$0].capacity }
    }

    // MARK: Others of the session

    /// Each connection counts against the host that it goes to.
    /// - Parameter share: makes the part in the connections with an origin.
    func join(first: ConnectionShare?, _ share: (String) -> ConnectionShare) {
        for index in members.indices { members[index].share = index == 0 ? first : share(members[index].url.origin) }
    }

    /// Returns how many connections there may be to all sources.
    /// - Parameter has: how many connections the planner has; the connections of several sources are counted here.
    func grant(has: Int, wants: Int, running: some Sequence<Int>) -> Int {
        if isShared { return grant(wants: wants, running: running) }
        return members[0].share?.grant(has: has, wants: wants) ?? wants
    }

    func grant(wants: Int, running: some Sequence<Int>) -> Int {
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

    /// Gives back what was granted and is not used. The only source keeps it: its planner asks for the connections soon.
    func settle(running: some Sequence<Int>) {
        guard isShared else { return }
        let loads = loads(of: running)
        for index in members.indices {
            members[index].share?.settle(has: loads[index])
            if members[index].failure != nil { members[index].share = nil }
        }
    }

    /// The host of a member takes no more connections than it has.
    func refused(_ member: Int, serving count: Int, at now: Date) {
        _ = members[member].share?.refused(serving: count, at: now)
    }

    func leaveHosts() { for index in members.indices { members[index].share = nil } }

    private func loads(of running: some Sequence<Int>) -> [Int] {
        var loads = [Int](repeating: 0, count: members.count)
        for other in running { if let member = assigned[other] { loads[member] += 1 } }
        return loads
    }

    /// A piece is not what it should be. Blamed is the member that brought all of it: bytes of an earlier attempt are
    /// nobody's. One that comes anew and stays wrong is blamed on all that brought some of it.
    /// - Returns: the members that are asked no more for it.
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
