import DownloadKit
import Synchronization

/// Reads the URLs of a list that this command is to download.
final class ListReader: Sendable {
    private struct State {
        /// URLs read so far, those of other shards included.
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

    /// What there is to say about how the list was divided, once it has been read.
    var notice: String? { state.withLock { $0.filter?.notice } }

    /// Returns at least one line, and nil at the end of the list.
    /// - Parameter limit: the number of lines of one read; of a shard about as many come.
    func next(_ limit: Int) async throws -> [InputList.Line]? {
        let step = limit * min(Self.largestFactor, state.withLock { $0.filter?.shard.count ?? 1 })
        while let lines = try await list.next(step) {
            let own = try state.withLock { state in try lines.compactMap { try Self.selected($0, &state) } }
            if !own.isEmpty { return own }
        }
        return nil
    }

    /// Lines of other shards are read in larger steps, up to this many times.
    private static let largestFactor = 20

    private static func selected(_ line: InputList.Line, _ state: inout State) throws -> InputList.Line? {
        // Options without a URL are an error of their line, which is reported in the place of the URL.
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
