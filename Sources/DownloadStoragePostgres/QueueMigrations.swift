/// The steps from an empty database to the newest version of the queue. All steps that a database lacks run in one
/// transaction.
enum QueueMigrations {
    /// The steps; the first leads to version 1.
    static let steps = [
        QueueSchema.tables + QueueSchema.enqueueing + QueueSchema.leasing + QueueSchema.ending + QueueSchema.control
    ]

    /// The key of the advisory lock that one program at a time holds while it migrates: "dlm" and a version of the
    /// lock.
    private static let lock = 0x646C_6D01

    /// Brings the database to the newest version.
    static func run(on connection: PostgresConnection) throws(PostgresFailure) {
        guard try version(on: connection) < steps.count else { return }
        let encoding = try connection.run("SHOW server_encoding").first?.first ?? nil
        guard encoding == "UTF8" else {
            throw PostgresFailure(.other, "the database has the encoding \(encoding ?? "?"); a queue needs UTF8")
        }
        try connection.transaction { () throws(PostgresFailure) in
            try connection.run("SELECT pg_advisory_xact_lock(\(lock))")
            // Another program may have migrated meanwhile.
            for step in steps[min(steps.count, try version(on: connection))...] { try connection.run(step) }
        }
    }

    /// Throws unless the database has a queue that this version of dlm knows.
    static func check(_ connection: PostgresConnection) throws(PostgresFailure) {
        let version = try version(on: connection)
        if version == 0 { throw PostgresFailure(.other, "the database has no queue; add URLs to it first") }
        if version < steps.count {
            throw PostgresFailure(
                .other, "the queue has version \(version), not \(steps.count) as needed; add URLs as the queue's owner")
        }
    }

    /// Returns the version of the queue, or 0 if there is none.
    private static func version(on connection: PostgresConnection) throws(PostgresFailure) -> Int {
        // to_regclass() is not used, because it may not see what was committed since the transaction began.
        let tables = try connection.run("SELECT FROM pg_tables WHERE schemaname = 'dlm' AND tablename = 'version'")
        guard !tables.isEmpty else { return 0 }
        let rows = try connection.run("SELECT max(version) FROM dlm.version")
        let version = rows.first?.first.flatMap { $0.flatMap(Int.init) } ?? 0
        if version > steps.count {
            throw PostgresFailure(.other, "the queue has version \(version), and this program knows \(steps.count)")
        }
        return version
    }
}
