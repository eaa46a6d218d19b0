import DownloadKit
import Synchronization

/// The reader of the URLs in a list that this command downloads.
final class ListReader: Sendable {
    private struct State {
        /// The number of URLs read so far, including those of other shards.
        var position = 0
        var filter: ShardFilter?
    }

    let name: String
    private let list: InputList
    private let state: Mutex<State>

    /// - Parameter filter: nil if all URLs are for this command.
    init(_ list: InputList, _ filter: ShardFilter? = nil) {
        self.list = list
        name = list.name
        state = Mutex(State(filter: filter))
    }

    /// The message about the division of the list, after the list was read; nil if there is none.
    var notice: String? { state.withLock { $0.filter?.notice } }

    /// Returns at least one line, and nil at the end of the list.
    /// - Parameter limit: the approximate number of lines to return.
    func next(_ limit: Int) async throws -> [InputList.Line]? {
        let step = limit * min(Self.largestFactor, state.withLock { $0.filter?.shard.count ?? 1 })
        while let lines = try await list.next(step) {
            let own = try state.withLock { state in try lines.compactMap { try Self.selected($0, &state) } }
            if !own.isEmpty { return own }
        }
        return nil
    }

    /// The greatest factor by which more lines are read if most of them belong to other shards.
    private static let largestFactor = 20

    private static func selected(_ line: InputList.Line, _ state: inout State) throws -> InputList.Line? {
        // A line with options but without a URL is reported as an error later. It has a position like a URL.
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
