import DownloadCore
import Foundation
import GRDB

/// A reader for the columns of one row. It checks every value, because SQLite stores whatever a user or another program
/// writes to a column.
struct RowReader {
    /// The columns, in the order of ``StoredColumns/all``.
    enum Column: Int, CaseIterable {
        case id, session, state, priority, folder, askedName, fileName, url, speed, isFinishing, created, updated
        case request, stateDetail, resume, attempts, completed
        case bytes, inode, born, modified, etag, etagIsWeak, lastModified, lastModifiedIsStrong
        case contentType, acceptsRanges, hasFinalURL, started, ended, metrics
    }

    /// A column that could not be read.
    struct Damage: Error {
        let column: Column
    }

    let row: Row

    func optional<Value: DatabaseValueConvertible>(_ column: Column, _ type: Value.Type = Value.self) throws -> Value? {
        // Most columns of most rows are NULL, and this check costs little.
        if row.hasNull(atIndex: column.rawValue) { return nil }
        let stored: DatabaseValue = row[column.rawValue]
        guard let value = Value.fromDatabaseValue(stored) else { throw Damage(column: column) }
        return value
    }

    func value<Value: DatabaseValueConvertible>(_ column: Column, _ type: Value.Type = Value.self) throws -> Value {
        guard let value = try optional(column, type) else { throw Damage(column: column) }
        return value
    }

    /// Returns a date of the years 1 to 9999. Other dates cannot be written, so they count as damage.
    func date(_ column: Column) throws -> Date {
        let milliseconds: Int64 = try value(column)
        guard (-62_135_596_800_000..<253_402_300_800_000).contains(milliseconds) else { throw Damage(column: column) }
        return DownloadRow.date(milliseconds)
    }

    func kind() throws -> DownloadState.Kind {
        guard let kind = DownloadState.Kind(rawValue: try value(.state)) else { throw Damage(column: .state) }
        return kind
    }

    func url() throws -> SourceURL {
        guard case .success(let parsed) = SourceURL.parse(try value(.url)) else { throw Damage(column: .url) }
        return parsed.url
    }

    /// Returns the decoded value of a JSON column; nil for NULL.
    func json<Value>(_ column: Column, _ decode: (String) throws -> Value) throws -> Value? {
        guard let text = try optional(column, String.self) else { return nil }
        do { return try decode(text) } catch { throw Damage(column: column) }
    }

    func json<Value: Decodable>(_ column: Column, _ type: Value.Type) throws -> Value? {
        try json(column) { try JSONText.decode(type, $0) }
    }
}
