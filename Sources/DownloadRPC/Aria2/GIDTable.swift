import DownloadCore
import Foundation
import Glibc

/// The GIDs that differ from the usual GID of their download, for example because a client has chosen them. A file
/// keeps them across restarts, one in each line (`GID NUMBER`). If a download has several lines, the last line applies.
struct GIDTable: Sendable {
    private var ids: [GID: DownloadID] = [:]
    private var gids: [DownloadID: GID] = [:]
    private let path: String
    /// The largest number of bytes that are read from the file. Of a larger file, only the end is read.
    private static let longest = 8 << 20
    /// The number of superfluous lines above which the file is written anew.
    private static let mostStale = 1000

    /// - Parameter report: Is called with a text if the file cannot be read. The session then uses the usual GIDs.
    init(path: String, report: (String) -> Void) {
        self.path = path
        do {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else {
                if errno != ENOENT { report("\(path): \(String(cString: strerror(errno)))") }
                return
            }
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            let size = try file.seekToEnd()
            let start = size - min(size, UInt64(Self.longest))
            try file.seek(toOffset: start)
            let data = try file.readToEnd() ?? Data()
            // The first line may be cut.
            let lines = data.split(separator: UInt8(ascii: "\n")).dropFirst(start > 0 ? 1 : 0)
            for line in lines {
                let words = String(decoding: line, as: UTF8.self).split(separator: " ")
                guard words.count == 2, let gid = GID(String(words[0])), let id = DownloadID(words[1]) else { continue }
                enter(gid, id)
            }
            if start > 0 || lines.count > ids.count + Self.mostStale { try rewrite() }
        } catch {
            report("\(path): \(error)")
        }
    }

    private func rewrite() throws {
        let text = ids.sorted { $0.value < $1.value }.map { "\($0.key) \($0.value)\n" }.joined()
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private mutating func enter(_ gid: GID, _ id: DownloadID) {
        if let old = gids[id] { ids[old] = nil }
        ids[gid] = id
        gids[id] = gid
    }

    func gid(of id: DownloadID) -> GID { gids[id] ?? GID(id) }

    /// Returns the number of the download to which a GID belongs, or nil if no download can have this GID. Only the
    /// store knows whether the download exists.
    func id(of gid: GID) -> DownloadID? {
        if let id = ids[gid] { return id }
        let id = gid.id
        return id > 0 && gids[id] == nil ? id : nil
    }

    /// Gives a download another GID.
    /// - Throws: ``RPCError`` if the GID cannot be written to the file.
    mutating func assign(_ gid: GID, to id: DownloadID) throws(RPCError) {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw RPCError("\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        let line = Array("\(gid) \(id)\n".utf8)
        guard write(descriptor, line, line.count) == line.count else {
            throw RPCError("\(path): \(String(cString: strerror(errno)))")
        }
        enter(gid, id)
    }
}
