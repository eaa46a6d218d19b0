import DownloadCore

/// The order of waiting downloads: by priority, then by number. To move a download, its priority is changed, and if
/// necessary the priorities of other downloads.
enum QueueOrder {
    struct Entry: Sendable, Equatable {
        let id: DownloadID
        var priority: Int

        /// Returns whether this entry comes before another.
        func precedes(_ other: Entry) -> Bool {
            priority != other.priority ? priority > other.priority : id < other.id
        }
    }

    /// The point from which a new place is counted, as in aria2's `changePosition`.
    enum Origin: String { case start = "POS_SET", current = "POS_CUR", end = "POS_END" }

    /// Returns the new place of the entry at `index`, within the list.
    static func target(of index: Int, in count: Int, _ offset: Int, _ origin: Origin) -> Int {
        let base =
            switch origin {
            case .start: 0
            case .current: index
            case .end: count - 1
            }
        return min(max(0, base + offset), max(0, count - 1))
    }

    /// Returns the entries whose priorities must change to move an entry to another place, with their new priorities.
    /// If possible, only the priority of the moved entry changes. Otherwise the priorities of this entry and of the
    /// entries above it are raised as far as necessary.
    static func moves(_ entries: [Entry], from index: Int, to target: Int) -> [Entry] {
        var order = entries
        let moved = order.remove(at: index)
        order.insert(moved, at: target)
        let above = target > 0 ? order[target - 1] : nil
        let below = target + 1 < order.count ? order[target + 1] : nil
        let choices = [
            moved.priority, above?.priority, above.map { next($0.priority, -1) }, below?.priority,
            below.map { next($0.priority, 1) },
        ]
        for case let priority? in choices {
            let candidate = Entry(id: moved.id, priority: priority)
            if above?.precedes(candidate) ?? true, below.map(candidate.precedes) ?? true {
                return priority == moved.priority ? [] : [candidate]
            }
        }
        var changes: [Entry] = []
        for place in order.indices.dropLast().reversed() where !order[place].precedes(order[place + 1]) {
            let next = order[place + 1]
            order[place].priority = self.next(next.priority, order[place].id < next.id ? 0 : 1)
            changes.append(order[place])
        }
        return changes
    }

    /// Returns the priority changed by `step` (-1, 0 or 1). If the result does not fit in an `Int`, returns the
    /// priority unchanged.
    private static func next(_ priority: Int, _ step: Int) -> Int {
        let (next, isTooFar) = priority.addingReportingOverflow(step)
        return isTooFar ? priority : next
    }
}

/// The part of a list that aria2 answers for an offset and a number.
enum ListPart {
    /// Returns the indices in the order of the answer. A negative offset counts from the end and reverses the order.
    static func indices(count: Int, offset: Int, number: Int) -> [Int] {
        guard number > 0, count > 0 else { return [] }
        if offset >= 0 {
            return offset < count ? Array(offset..<min(count, offset + min(number, count))) : []
        }
        let last = count + offset
        guard last >= 0 else { return [] }
        return Array(max(0, last - (min(number, count) - 1))...last).reversed()
    }
}
