/// Events that happened together.
package enum EventGroup: Sendable {
    case events([DownloadEvent])
    /// Downloads that were added. A list may add a million at once, and most readers need no record of them.
    case added([AddedDownload])
    /// Small files that have begun and ended. Most readers need no record of them.
    case smallFiles([SmallFileEnd])

    package var events: [DownloadEvent] {
        switch self {
        case .events(let events): events
        case .added(let downloads): downloads.map { .didAdd(DownloadSnapshot(record: $0.record)) }
        case .smallFiles(let files): files.flatMap(\.events)
        }
    }
}

/// The events of the downloads of a service, in order, until the service ends. Events that happen together are
/// delivered in one group. Thousands of small files make thousands of events a second, and waking a reader costs more
/// than an event itself.
public struct DownloadEvents: AsyncSequence, Sendable {
    /// The groups of events. No group is empty.
    package let groups: AsyncStream<EventGroup>

    package init(groups: AsyncStream<EventGroup>) { self.groups = groups }

    public func makeAsyncIterator() -> Iterator { Iterator(groups: groups.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol {
        var groups: AsyncStream<EventGroup>.Iterator
        private var group: ArraySlice<DownloadEvent> = []

        init(groups: AsyncStream<EventGroup>.Iterator) { self.groups = groups }

        /// Returns the next event, or nil when the service has ended.
        public mutating func next() async -> DownloadEvent? {
            while group.isEmpty {
                guard let next = await groups.next() else { return nil }
                group = next.events[...]
            }
            return group.removeFirst()
        }
    }
}
