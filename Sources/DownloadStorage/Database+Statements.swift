import DownloadCore
import GRDB

/// The statements of the store, which are prepared once for each connection.
extension Database {
    /// Runs a statement that returns no rows.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> RowCursor {
        try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns the first row.
    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns the first column of the first row; nil if there is no row, or for NULL.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ sql: String, _ arguments: StatementArguments = [], as type: Value.Type = Value.self
    ) throws -> Value? {
        try Value.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns the first column of all rows.
    func values<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ sql: String, _ arguments: StatementArguments = [], as type: Value.Type = Value.self
    ) throws -> [Value] {
        try Value.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Runs `body` in one transaction that takes the write lock at its start. A deferred transaction that reads first
    /// would fail at once if another process writes.
    /// - Parameter durably: Whether the log is synced, so that this transaction and all earlier ones survive a loss of
    ///   power.
    func immediately<Value>(durably: Bool = false, _ body: () throws -> Value) throws -> Value {
        if durably { try execute(sql: "PRAGMA synchronous = FULL") }
        defer {
            // If this fails, later commits only take longer.
            if durably { try? execute(sql: "PRAGMA synchronous = NORMAL") }
        }
        return try transaction(.immediate, body)
    }

    func transaction<Value>(_ kind: TransactionKind, _ body: () throws -> Value) throws -> Value {
        var value: Value?
        try inTransaction(kind) {
            value = try body()
            return .commit
        }
        guard let value else { preconditionFailure("inTransaction returned without running its body") }
        return value
    }
}

extension DownloadID: DatabaseValueConvertible, StatementColumnConvertible {}
