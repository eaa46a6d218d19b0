import DownloadKit
import Synchronization

/// The reader of a list of URLs. With a ``ShardFilter``, it returns only the URLs of this command's shard.
final class ListReader: Sendable {
    private struct State {
        var position = 0
        var filter: ShardFilter?

        /// The number of lines to read for the next part. The first parts have 500 lines, so that downloads begin soon.
        /// Later parts are a sixteenth of the lines before them, up to 5,000. Each part is recorded in one transaction,
        /// which is synced. In parts of 500 lines, a million lines took twice as long.
        /// With shards more lines are read, because most of them belong to other shards.
        var size: Int {
            let shards = filter?.shard.count ?? 1
            return min(min(max(500, position / shards / 16), 5_000) * shards, 20_000)
        }
    }

    private let list: InputList
    private let state: Mutex<State>

    /// - Parameter filter: The filter for this command's shard; nil if the list is not divided.
    init(_ list: InputList, _ filter: ShardFilter? = nil) {
        self.list = list
        state = Mutex(State(filter: filter))
    }

    /// The message about an uneven division of the list, when the list has been read; nil if there is none.
    var notice: String? { state.withLock { $0.filter?.notice } }

    /// Returns the next part of the list, at least one line. Returns nil at the end of the list.
    func next() async throws -> [InputList.Line]? {
        while let lines = try await list.next(state.withLock(\.size)) {
            let own = try state.withLock { state in try lines.compactMap { try Self.selected($0, &state) } }
            if !own.isEmpty { return own }
        }
        return nil
    }

    private static func selected(_ line: InputList.Line, _ state: inout State) throws -> InputList.Line? {
        // A line with an option that has no URL above it is counted like a URL, and is reported as an error later.
        var line = line
        line.position = state.position
        state.position += 1
        guard state.filter != nil else { return line }
        let url = (try? JSONLine.plain(line).text) ?? line.text
        let first = url.utf8.firstIndex(of: UInt8(ascii: "\t")).map { String(url[..<$0]) } ?? url
        let isOwn = try state.filter?.takes(first, at: line.position) ?? true
        return isOwn ? line : nil
    }
}
