import DownloadCore
import Foundation

/// The fields of a download in aria2's `tellStatus`. Numbers and truth values are strings, as in aria2.
struct Aria2Status: Sendable {
    let snapshot: DownloadSnapshot
    let gid: GID
    /// The folder as the client gave it.
    let folder: String

    enum State: String, Sendable { case active, waiting, paused, error, complete, removed }

    private var record: DownloadRecord { snapshot.record }

    var state: State {
        switch snapshot.progress.state {
        case .queued, .waiting(.schedule, _), .waiting(.server, _): .waiting
        // In aria2, a download keeps its slot between two attempts, so clients expect it to be active.
        case .running, .waiting(.retry, _), .waiting(.network, _): .active
        case .paused: .paused
        case .completed: .complete
        case .failed: .error
        case .cancelled: .removed
        }
    }

    private var total: Int64 { snapshot.progress.total ?? 0 }
    private var received: Int64 { snapshot.progress.received }
    /// The speed in bytes per second. For a download of another session it is the speed that this session last saved in
    /// the record.
    var speed: Int64 {
        guard snapshot.progress.state.kind == .running else { return 0 }
        return Int64(exactly: (snapshot.progress.speed ?? record.speed ?? 0).rounded(.down)) ?? 0
    }

    /// Returns the fields.
    /// - Parameter keys: The names of the requested fields; empty for all fields.
    func object(_ keys: Set<String> = []) -> JSONValue {
        var fields: [String: JSONValue] = [:]
        func add(_ name: String, _ value: @autoclosure () -> JSONValue?) {
            if keys.isEmpty || keys.contains(name), let value = value() { fields[name] = value }
        }
        add("gid", .text(gid))
        add("status", .string(state.rawValue))
        add("totalLength", .text(total))
        add("completedLength", .text(received))
        add("uploadLength", "0")
        add("downloadSpeed", .text(speed))
        add("uploadSpeed", "0")
        add("connections", .text(connections))
        add("pieceLength", .text(pieces.length))
        add("numPieces", .text(pieces.count))
        add("bitfield", bitfield.map { .string($0) })
        add("dir", .string(folder))
        add("files", [file])
        add("errorCode", errorCode.map { .text($0) })
        add("errorMessage", errorCode.map { _ in .string(errorMessage) })
        add("verifiedLength", snapshot.progress.phase == .verifying ? .text(received) : nil)
        return .object(fields)
    }

    private var connections: Int {
        guard state == .active, snapshot.progress.state.kind == .running else { return 0 }
        return record.attempts.last.flatMap { $0.ended == nil ? $0.connections : nil } ?? 1
    }

    // MARK: Pieces

    private var pieces: PieceGrid { PieceGrid(total: total) }

    private var bitfield: String? {
        guard total > 0 else { return nil }
        return pieces.bitfield(state == .complete ? ByteRanges([0..<total]) : record.resume.written)
    }

    // MARK: Files

    /// The only file of the download.
    var file: JSONValue {
        [
            "index": "1", "path": .string(path), "length": .text(total), "completedLength": .text(received),
            "selected": "true", "uris": .array(uris),
        ]
    }

    private var path: String {
        snapshot.path ?? FileNaming.path(record.request.destination.folder, record.displayName)
    }

    /// The URL that is asked first, then the mirrors.
    var uris: [JSONValue] {
        let isUsed = state == .active || state == .complete
        return ([record.request.url] + record.request.mirrors).enumerated().map { index, url in
            ["uri": .string(url.string), "status": index == 0 && isUsed ? "used" : "waiting"]
        }
    }

    var servers: JSONValue {
        let current = record.resume.finalURL ?? record.request.url
        return [
            [
                "index": "1",
                "servers": [
                    [
                        "uri": .string(record.request.url.string), "currentUri": .string(current.string),
                        "downloadSpeed": .text(speed),
                    ]
                ],
            ]
        ]
    }

    // MARK: Errors

    /// The exit status of aria2 (EXIT STATUS in its manual) for a download that has ended.
    private var errorCode: Int? {
        switch record.state {
        case .completed: 0
        case .cancelled: 31
        case .failed(let error): error.meaning.aria2
        default: nil
        }
    }

    private var errorMessage: String {
        let text = record.state.error?.description ?? ""
        guard record.request.network.refusesPrivateAddresses == true,
            case .networkFailed(.connect, let diagnosis)? = record.state.error, diagnosis.errno == 0
        else { return text }
        // The library does not know the setting for which it refused a private address.
        return "\(text); see rpc-private-hosts"
    }
}

/// The division of a file into pieces of equal length, with which aria2 shows the bytes on disk.
struct PieceGrid: Sendable, Equatable {
    let total: Int64
    /// The length of a piece in bytes. The last piece may be shorter.
    let length: Int64

    private static let shortest: Int64 = 1 << 20
    private static let most: Int64 = 8192

    init(total: Int64) {
        self.total = total
        var length = Self.shortest
        while length < .max / 4, total / length >= Self.most { length *= 2 }
        self.length = length
    }

    var count: Int64 { total <= 0 ? 0 : (total - 1) / length + 1 }

    /// Returns a bit for each piece, in hexadecimal digits, with the highest bit first. A bit is set if the whole piece
    /// is on disk.
    func bitfield(_ here: ByteRanges) -> String {
        var bytes = [UInt8](repeating: 0, count: Int((count + 7) / 8))
        for range in here.ranges {
            let first = range.lowerBound <= 0 ? 0 : (range.lowerBound - 1) / length + 1
            let end = range.upperBound >= total ? count : range.upperBound / length
            var piece = first
            while piece < end {
                bytes[Int(piece / 8)] |= 0x80 >> UInt8(piece % 8)
                piece += 1
            }
        }
        return bytes.hexadecimal
    }
}
