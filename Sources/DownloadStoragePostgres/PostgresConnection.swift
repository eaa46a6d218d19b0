import CPostgres
import DownloadCore

/// A connection to PostgreSQL. Its calls block, and only one thread may use it at a time.
final class PostgresConnection {
    /// The rows of a result, with their values as text.
    typealias Rows = [[String?]]

    private let pq: dlm_pg
    private let connection: OpaquePointer

    /// The defaults for parameters that the URI does not have. If a server disappears without closing its connections,
    /// this is noticed after half a minute. Times are in seconds, except for the last one, which is in milliseconds.
    private static let defaults = [
        ("fallback_application_name", "dlm"), ("connect_timeout", "10"),
        ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "30000"),
    ]

    /// Parts of messages after which another attempt with the same URI is useless. libpq has no codes for errors of
    /// connecting. All other errors may be temporary, for example if the server has no free connection.
    private static let refusals = [
        "authentication failed", "no password supplied", "does not exist", "no pg_hba.conf entry",
        "not permitted to log in", "permission denied", "invalid connection option", "invalid value", "invalid URI",
        "certificate", "does not support SSL",
    ]

    /// The functions of the queue must see what other transactions have committed since their own transaction began.
    /// The server ends the transaction of a program that was stopped or has lost its network, so that no other program
    /// waits for the locks of this transaction.
    private static let settings = """
        SET default_transaction_isolation = 'read committed'; SET idle_in_transaction_session_timeout = '30s';
        SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3
        """

    init(_ location: QueueLocation) throws(PostgresFailure) {
        var reason: UnsafePointer<CChar>?
        guard let pq = dlm_pg_load(&reason)?.pointee else {
            throw PostgresFailure(.noLibrary, reason.map { String(cString: $0) } ?? "")
        }
        // Parameters of the URI replace the defaults. `client_encoding` comes after the URI, so it replaces the URI's.
        let parameters = Self.defaults + [("dbname", location.uri), ("client_encoding", "UTF8")]
        let opened = Self.withTexts(parameters.map(\.0)) { keywords in
            // With 1, the URI in `dbname` is expanded.
            Self.withTexts(parameters.map(\.1)) { values in pq.PQconnectdbParams(keywords, values, 1) }
        }
        guard let opened else { throw PostgresFailure(.other, "out of memory") }
        (self.pq, connection) = (pq, opened)
        // libpq would print notices on standard error.
        _ = pq.PQsetNoticeProcessor(opened, { _, _ in }, nil)
        guard isAlive else {
            let message = String(cString: pq.PQerrorMessage(opened))
            let isFinal = Self.refusals.contains { message.contains($0) }
            throw PostgresFailure(isFinal ? .other : .connectionLost, message)
        }
        try run(Self.settings)
    }

    deinit { pq.PQfinish(connection) }

    var isAlive: Bool { pq.PQstatus(connection) == DLM_PG_CONNECTION_OK }

    /// Runs a statement, or several if there are no values.
    @discardableResult
    func run(_ statement: String, _ values: [String?] = []) throws(PostgresFailure) -> Rows {
        let result = Self.withTexts(values) { texts in
            values.isEmpty
                ? pq.PQexec(connection, statement)
                : pq.PQexecParams(connection, statement, Int32(values.count), nil, texts, nil, nil, 0)
        }
        defer { pq.PQclear(result) }
        try check(result)
        return rows(of: result)
    }

    func transaction<Result>(_ body: () throws(PostgresFailure) -> Result) throws(PostgresFailure) -> Result {
        try run("BEGIN")
        let result: Result
        do {
            result = try body()
        } catch {
            // If the connection is lost, even during the ROLLBACK, the server rolls the transaction back by itself.
            if isAlive { _ = try? run("ROLLBACK") }
            throw error
        }
        try run("COMMIT")
        return result
    }

    /// Sends lines of COPY's text format to a table.
    func copy(_ lines: [UInt8], to table: String) throws(PostgresFailure) {
        let begun = pq.PQexec(connection, "COPY \(table) FROM STDIN")
        defer { pq.PQclear(begun) }
        guard pq.PQresultStatus(begun) == Int32(DLM_PG_COPY_IN) else { return try check(begun) }
        let sent = lines.withUnsafeBytes { bytes in
            pq.PQputCopyData(
                connection, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        }
        guard sent == 1, pq.PQputCopyEnd(connection, nil) == 1 else { throw failure(nil) }
        var failure: PostgresFailure?
        while let result = pq.PQgetResult(connection) {
            do { try check(result) } catch { failure = failure ?? error }
            pq.PQclear(result)
        }
        if let failure { throw failure }
    }

    // MARK: Results

    private func check(_ result: OpaquePointer?) throws(PostgresFailure) {
        let good = [DLM_PG_COMMAND_OK, DLM_PG_TUPLES_OK, DLM_PG_EMPTY_QUERY].map { Int32($0) }
        guard good.contains(pq.PQresultStatus(result)) else { throw failure(result) }
    }

    private func failure(_ result: OpaquePointer?) -> PostgresFailure {
        func field(_ code: Int) -> String? {
            result.flatMap { pq.PQresultErrorField($0, Int32(code)) }.map { String(cString: $0) }
        }
        let message = field(DLM_PG_MESSAGE) ?? String(cString: pq.PQerrorMessage(connection))
        return isAlive
            ? PostgresFailure(state: field(DLM_PG_SQLSTATE), message) : PostgresFailure(.connectionLost, message)
    }

    private func rows(of result: OpaquePointer?) -> Rows {
        let columns = pq.PQnfields(result)
        return (0..<pq.PQntuples(result)).map { row in
            (0..<columns).map { column in
                guard pq.PQgetisnull(result, row, column) == 0, let value = pq.PQgetvalue(result, row, column) else {
                    return nil
                }
                let count = Int(pq.PQgetlength(result, row, column))
                return String(decoding: UnsafeRawBufferPointer(start: value, count: count), as: UTF8.self)
            }
        }
    }

    /// Calls `body` with C strings, and NULL at the end.
    private static func withTexts<Result>(
        _ texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        var bytes: [CChar] = []
        var starts: [Int?] = []
        for text in texts {
            starts.append(text == nil ? nil : bytes.count)
            if let text { bytes += text.utf8CString }
        }
        return bytes.withUnsafeBufferPointer { buffer in
            let pointers = starts.map { start in start.flatMap { buffer.baseAddress?.advanced(by: $0) } } + [nil]
            return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
        }
    }
}
