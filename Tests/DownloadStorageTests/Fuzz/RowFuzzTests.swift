import DownloadCore
import DownloadTestSupport
import Foundation
import GRDB
import Testing

@testable import DownloadStorage

/// Rows of the store that another program has changed.
@Suite("Fuzzing: rows of the store", .inTurn)
struct RowFuzzTests {
    /// Returns rows with a value in every column, as text with a tab between two columns.
    private static func rows() throws -> [String] {
        let plain = DownloadRecord(id: 1, request: try Sample.request(), created: Date().stored)
        return try [plain, Sample.filled(plain)].map { record in
            let request = try RequestCoder().encode(record.request)
            let detail: String? = record.state == .queued ? nil : try JSONText.encode(record.state)
            let columns: [String?] = [
                "\(record.id)", record.session, record.state.kind.rawValue, "\(record.request.priority)",
                record.request.destination.folder, record.request.destination.fileName, record.fileName,
                record.request.url.string, record.speed.map { "\($0)" }, record.isFinishing ? "1" : "0",
                "\(DownloadRow.milliseconds(record.created))", "\(DownloadRow.milliseconds(record.updated))", request,
                detail, try JSONText.encode(record.resume), try JSONText.encode(record.attempts),
                try record.completed.map(JSONText.encode),
            ]
            let result: [String?] =
                record.fileName == nil
                ? []
                : [
                    "16", "7", "8", "9", "e", "1", "then", "0", "text/plain", "1", "1", "7.5", "8.5",
                    #"["192.0.2.7",80,"1.1",206,true,0.0,0.001,0.1,0.125,12.0,16]"#,
                ]
            return (columns + result).map { $0 ?? "" }.joined(separator: "\t")
        }
    }

    /// Returns the value that SQLite would keep in a column: NULL for no bytes, a blob for bytes that are not UTF-8,
    /// else a number if possible, or text.
    private static func value(_ bytes: ArraySlice<UInt8>) -> DatabaseValue {
        if bytes.isEmpty { return .null }
        guard let text = String(validating: bytes, as: UTF8.self) else { return Data(bytes).databaseValue }
        return Int64(text)?.databaseValue ?? Double(text)?.databaseValue ?? text.databaseValue
    }

    private static func stored(_ input: [UInt8], _ db: Database) throws -> StoredDownload? {
        let count = RowReader.Column.allCases.count
        var values = input.split(separator: 9, maxSplits: count - 1, omittingEmptySubsequences: false).map(value)
        values += repeatElement(.null, count: count - values.count)
        let sql = "SELECT " + values.map { _ in "?" }.joined(separator: ",")
        guard let row = try Row.fetchOne(db, sql: sql, arguments: StatementArguments(values)) else { return nil }
        // A row without an id cannot be reported.
        return try? StoredDownload(row, coder: RequestCoder())
    }

    @Test("A row is read as a valid record that can be written again, or it is reported as damaged")
    func rows() throws {
        let database = try DatabaseQueue()
        let words = ["\t", "\"inf\"", "\"_0\":", "{\"paused\":{\"_0\":\"user\"}}", "[[0,1]]", "null,"]
        let fuzzing = Fuzzing("Rows", corpus: try Self.rows(), words: words)
        try database.read { db in
            fuzzing.run { input in
                guard let stored = try? Self.stored(input, db) else { return nil }
                let record = stored.record
                // Saving converts these dates, too, and must not trap.
                _ = DownloadRow.milliseconds(record.created)
                _ = DownloadRow.milliseconds(record.updated)
                guard stored.damage == nil else { return nil }
                if let why = Self.impossible(record) { return why }
                return (try? DownloadRow(record, coder: RequestCoder())) == nil ? "cannot be written" : nil
            }
        }
    }

    /// Names a value of the record that dlm never writes and must not work with. Returns nil if there is none.
    private static func impossible(_ record: DownloadRecord) -> String? {
        let request = record.request
        if (record.resume.total ?? 0) < 0 { return "a total of \(record.resume.total ?? 0)" }
        if (record.completed?.bytes ?? 0) < 0 { return "a file of \(record.completed?.bytes ?? 0) bytes" }
        if record.received < 0 { return "received \(record.received)" }
        let connections = request.connections
        if !(1...64).contains(connections.fixed ?? connections.limit ?? 1) { return "\(connections) connections" }
        if (request.rateLimit ?? 1) < 1 { return "a limit of \(request.rateLimit ?? 0)" }
        if request.retry.limit < 0 || !(0...1e9).contains(request.retry.delay.inSeconds) { return "\(request.retry)" }
        if !(request.retry.maximumDelay >= .zero) { return "\(request.retry)" }
        if !(request.timeouts.connect > .zero) || !(request.timeouts.stall > .zero) { return "\(request.timeouts)" }
        return nil
    }

    @Test("Whatever a row contains, the store lists it, and other rows stay readable")
    func store() async throws {
        let folder = TemporaryFolder()
        let store = try folder.open()
        for name in 0..<3 { _ = try await store.add([Sample.request("\(name)")], session: "s") }
        try await store.database.writeWithoutTransaction { db in try Details(db: db).make([2]) }
        let columns = RowReader.Column.allCases.dropFirst()
        let corpus = try Self.rows().flatMap { $0.split(separator: "\t").map(String.init) }
        try await Fuzzing("Store", corpus: corpus).run(scale: 0.1) { input in
            let column = columns[columns.startIndex + (input.first.map(Int.init) ?? 0) % columns.count]
            let value = Self.value(input[...])
            let isKept = try await store.database.writeWithoutTransaction { db in
                // A constraint of the schema refuses some values.
                let sql =
                    switch column {
                    case .url: "UPDATE download SET url = ? WHERE id = 2"
                    case .folder, .askedName, .created: "UPDATE request SET \(column) = ? WHERE id = 2"
                    case .request: "UPDATE request SET document = ? WHERE id = 2"
                    default: "UPDATE detail SET \(column) = ? WHERE id = 2"
                    }
                return (try? db.execute(sql: sql, arguments: [value])) != nil
            }
            let ids = try await store.records(.all).map(\.id)
            _ = try? await store.claim([2], session: "other")
            _ = try? await store.change([2], .pause, session: "s")
            _ = try await store.queued(session: "s", after: nil, excluding: [], limit: 5)
            _ = try await store.events(after: 0, limit: 10)
            return ids == [1, 2, 3] ? nil : "\(ids) with \(column), kept: \(isKept)"
        }
    }

    @Test("Whatever the log contains, it is read to its end")
    func events() async throws {
        let folder = TemporaryFolder()
        let store = try folder.open()
        _ = try await store.add((0..<3).map { try Sample.request("\($0)") }, session: "s")
        let columns = [
            "time", "kind", "download", "name", "url", "session", "state", "stateDetail", "received", "total",
        ]
        let corpus = ["added", "failed", "1700000000000", "http://h/a", "{\"paused\":{\"_0\":\"user\"}}", "9"]
        try await Fuzzing("Events", corpus: corpus).run(scale: 0.1) { input in
            let column = columns[(input.last.map(Int.init) ?? 0) % columns.count]
            let value = Self.value(input[...])
            try await store.database.writeWithoutTransaction { db in
                _ = try? db.execute(sql: "UPDATE event SET \(column) = ? WHERE seq = 2", arguments: [value])
            }
            let cursors = try await store.events(after: 0, limit: 10).map(\.cursor)
            return cursors.first == 1 && cursors.contains(3) ? nil : "\(cursors)"
        }
    }
}
