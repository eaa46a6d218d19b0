import CSystem
import DownloadKit

/// A row of the interactive `dlm watch`: the part of a download that the list shows.
struct WatchRow: Equatable {
    /// The progress. It has a speed only if the download runs.
    let progress: DownloadProgress
    var priority = 0
    /// The path of the file; nil until its name is known.
    var path: String?
    /// Whether the session of an unfinished download has ended unexpectedly.
    var isInterrupted = false

    init(_ snapshot: DownloadSnapshot) {
        var progress = snapshot.progress
        if progress.state.kind != .running { progress.speed = nil }
        self.progress = progress
        priority = snapshot.request.priority
        path = snapshot.path
        isInterrupted = Idleness.isInterrupted(snapshot)
    }

    /// Returns the row after an event, or nil if the event says nothing about the state. `row` is the row before.
    init?(_ event: LoggedEvent, after row: WatchRow?) {
        guard var progress = DownloadProgress(event) else { return nil }
        progress.speed = progress.state.kind == .running ? row?.progress.speed : nil
        self.progress = progress
        priority = row?.priority ?? 0
        path = row?.path
    }

    var id: DownloadID { progress.id }
    var state: DownloadState { progress.state }

    var rank: Int { WatchList.rank(state.kind) }
}

/// The rows of the interactive `dlm watch`: grouped by state, sorted, and filtered. The order is maintained at each
/// change, so that drawing needs no work for rows that are not on the screen.
struct WatchList {
    enum Sort: String, CaseIterable {
        case number, name, size, speed, priority
    }

    /// The place of a row in the order. It is made once for each row, because comparing whole rows is slow.
    private struct SortKey: Comparable {
        var rank: Int
        var number = 0.0
        var text = ""
        var id: DownloadID

        static func < (a: Self, b: Self) -> Bool {
            if a.rank != b.rank { return a.rank < b.rank }
            if a.number != b.number { return a.number < b.number }
            return a.text == b.text ? a.id < b.id : a.text < b.text
        }
    }

    /// The states in the order of their groups: first those of downloads at work.
    static let groups: [DownloadState.Kind] = [
        .running, .waiting, .queued, .paused, .failed, .completed, .cancelled,
    ]
    private static let ranks = Dictionary(uniqueKeysWithValues: zip(groups, 0...))
    /// If one row of so many has changed, the whole list is sorted again, because that is faster.
    private static let many = 16

    private var rows: [DownloadID: WatchRow] = [:]
    private(set) var order: [DownloadID] = []
    /// The ids of the rows that match the filter, in order; nil without a filter.
    private var filtered: [DownloadID]?
    var marked: Set<DownloadID> = []
    private(set) var sort = Sort.number
    /// The filter in lower case; empty for no filter.
    private(set) var filter = ""
    /// The highest number of a download that was in the list.
    private(set) var largestID: DownloadID = 0
    /// The selected row; nil while the first row is selected, whichever it is.
    private var selected: DownloadID?
    private var position = 0

    static func rank(_ state: DownloadState.Kind) -> Int { ranks[state] ?? groups.count - 1 }

    /// The number of shown rows in each group, by rank.
    var counts: [Int] {
        let starts = (0...Self.groups.count).map { start(ofGroup: $0, in: shown) }
        return zip(starts, starts.dropFirst()).map { $1 - $0 }
    }

    var speed: Double {
        order.prefix(start(ofGroup: 1, in: order)).reduce(0) { $0 + (rows[$1]?.progress.speed ?? 0) }
    }

    /// Returns the index of the first row of a group.
    private func start(ofGroup rank: Int, in list: [DownloadID]) -> Int {
        place(of: SortKey(rank: rank, number: -.infinity, id: 0), in: list)
    }

    subscript(id: DownloadID) -> WatchRow? { rows[id] }
    var shown: [DownloadID] { filtered ?? order }
    var count: Int { filtered?.count ?? order.count }

    /// Returns downloads that run or wait: those from the line `line` on, then those before, at most `limit`.
    func atWork(_ limit: Int, from line: Int) -> [DownloadID] {
        let list = shown.prefix(start(ofGroup: 2, in: shown))
        // At most two headings are above these rows.
        let start = max(0, min(line - 2, list.count))
        return Array((list[start...].prefix(limit) + list[..<start]).prefix(limit))
    }

    // MARK: Changes

    mutating func put(_ changed: [WatchRow]) {
        guard changed.count * Self.many >= order.count else { return changed.forEach { put($0) } }
        for row in changed { rows[row.id] = row }
        largestID = changed.reduce(largestID) { max($0, $1.id) }
        sortAll()
    }

    mutating func put(_ row: WatchRow) {
        if let old = rows[row.id] {
            if old == row { return }
            if key(old) == key(row), matches(old) == matches(row) {
                rows[row.id] = row
                return
            }
            detach(old)
        }
        order.insert(row.id, at: place(of: row, in: order))
        if matches(row), let index = filtered.map({ place(of: row, in: $0) }) { filtered?.insert(row.id, at: index) }
        rows[row.id] = row
        largestID = max(largestID, row.id)
    }

    mutating func remove(_ id: DownloadID) {
        guard let row = rows[id] else { return }
        detach(row)
        rows[id] = nil
        marked.remove(id)
    }

    private mutating func detach(_ row: WatchRow) {
        order.remove(at: place(of: row, in: order))
        if matches(row), let index = filtered.map({ place(of: row, in: $0) }) { filtered?.remove(at: index) }
    }

    mutating func sortNext() {
        let all = Sort.allCases
        sort = all[((all.firstIndex(of: sort) ?? 0) + 1) % all.count]
        sortAll()
    }

    mutating func filter(by text: String) {
        filter = text.lowercased()
        refilter()
    }

    private mutating func sortAll() {
        order = rows.values.map(key).sorted().map(\.id)
        refilter()
    }

    private mutating func refilter() {
        filtered = filter.isEmpty ? nil : order.filter { rows[$0].map(matches) ?? false }
    }

    private func matches(_ row: WatchRow) -> Bool {
        if filter.isEmpty { return true }
        var (name, filter) = (row.progress.name.lowercased(), filter)
        return name.withUTF8 { name in
            filter.withUTF8 { dlm_find(name.baseAddress, name.count, $0.baseAddress, $0.count) >= 0 }
        }
    }

    private func key(_ row: WatchRow) -> SortKey {
        var key = SortKey(rank: row.rank, id: row.id)
        switch sort {
        case .number: break
        case .name: key.text = row.progress.name
        case .size: key.number = -Double(row.progress.total ?? row.progress.received)
        case .speed: key.number = -(row.progress.speed ?? 0)
        case .priority: key.number = -Double(row.priority)
        }
        return key
    }

    private func place(of row: WatchRow, in list: [DownloadID]) -> Int { place(of: key(row), in: list) }

    /// Returns the index of the first row that does not precede `key`.
    private func place(of key: SortKey, in list: [DownloadID]) -> Int {
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if let other = rows[list[middle]], self.key(other) < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The index of the selected row; nil if no row is shown. If the row is gone, the selection stays at its place.
    mutating func cursor() -> Int? {
        let list = shown
        guard !list.isEmpty else { return nil }
        if let row = selected.flatMap({ rows[$0] }), case let place = place(of: row, in: list), place < list.count,
            list[place] == row.id
        {
            position = place
        } else {
            position = min(position, list.count - 1)
            if selected != nil { selected = list[position] }
        }
        return position
    }

    /// Fixes the selection to the row that is selected now, and returns its download.
    @discardableResult mutating func pin() -> DownloadID? {
        guard let cursor = cursor() else { return nil }
        selected = shown[cursor]
        return selected
    }

    mutating func move(by step: Int) {
        guard let cursor = cursor() else { return }
        position = max(0, min(cursor + step, count - 1))
        selected = shown[position]
    }

    mutating func toggleMark() {
        guard let id = pin() else { return }
        if marked.remove(id) == nil { marked.insert(id) }
        move(by: 1)
    }

    // MARK: Lines

    enum Line: Equatable {
        case heading(DownloadState.Kind, Int)
        case row(DownloadID)
    }

    var lineCount: Int { count + counts.count { $0 > 0 } }

    func line(ofRow index: Int) -> Int {
        var (before, line) = (0, index)
        for count in counts where count > 0 {
            if before > index { break }
            before += count
            line += 1
        }
        return line
    }

    func lines(_ range: Range<Int>) -> [Line] {
        let list = shown
        var lines: [Line] = []
        var (start, first) = (0, 0)
        for (rank, count) in counts.enumerated() where count > 0 {
            for line in range.clamped(to: start..<start + count + 1) {
                lines.append(line == start ? .heading(Self.groups[rank], count) : .row(list[first + line - start - 1]))
            }
            start += count + 1
            first += count
        }
        return lines
    }
}
