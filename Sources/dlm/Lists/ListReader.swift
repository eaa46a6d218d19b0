import DownloadKit
import Synchronization

/// The reader of a list of URLs. With a ``ShardFilter``, it returns only the URLs of this command's shard.
final class ListReader: Sendable {
    private struct State {
        /// The number of URLs that were read so far, including the URLs of other shards.
        var position = 0
        var filter: ShardFilter?
    }

    let name: String
    private let list: InputList
    private let state: Mutex<State>

    /// - Parameter filter: The filter for this command's shard; nil if the list is not divided.
    init(_ list: InputList, _ filter: ShardFilter? = nil) {
        self.list = list
        name = list.name
        state = Mutex(State(filter: filter))
    }

    /// The message about an uneven division of the list, when the list has been read; nil if there is none.
    var notice: String? { state.withLock { $0.filter?.notice } }

    /// Returns the next lines, at least one. Returns nil at the end of the list.
    /// - Parameter limit: The approximate number of lines to return.
    func next(_ limit: Int) async throws -> [InputList.Line]? {
        let step = limit * min(Self.largestFactor, state.withLock { $0.filter?.shard.count ?? 1 })
        while let lines = try await list.next(step) {
            let own = try state.withLock { state in try lines.compactMap { try Self.selected($0, &state) } }
            if !own.isEmpty { return own }
        }
        return nil
    }

    /// The greatest factor by which more lines are read than requested, because most lines belong to other shards.
    private static let largestFactor = 20

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
