/// What happens to the downloads of a service, in order, until it ends. What comes together is handed over together:
/// thousands of small files are thousands of events a second, and waking a reader for each costs more than the event.
public struct DownloadEvents: AsyncSequence, Sendable {
    /// Never empty ones.
    package let groups: AsyncStream<[DownloadEvent]>

    package init(groups: AsyncStream<[DownloadEvent]>) { self.groups = groups }

    public func makeAsyncIterator() -> Iterator { Iterator(groups: groups.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol {
        var groups: AsyncStream<[DownloadEvent]>.Iterator
        private var group: ArraySlice<DownloadEvent> = []

        init(groups: AsyncStream<[DownloadEvent]>.Iterator) { self.groups = groups }

        /// Nil when the service has ended.
        public mutating func next() async -> DownloadEvent? {
            while group.isEmpty {
                guard let next = await groups.next() else { return nil }
                group = next[...]
            }
            return group.removeFirst()
        }
    }
}
