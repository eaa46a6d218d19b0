import GRDB

/// The schema, one step a released version. Steps are appended, never edited: old stores open for ever.
/// A field that a stored JSON value gains without being optional needs a step that writes it into the old rows.
enum Migrations {
    /// Marks the file as dlm's (`PRAGMA application_id`): "dlm1" in ASCII.
    static let applicationID = 0x646C_6D31

    static let steps: [String] = [version1]

    /// Brings the store to the newest schema. Any number of processes may do so at the same moment.
    static func run(on db: Database) throws {
        if try number("user_version", of: db) == steps.count, try number("application_id", of: db) == applicationID {
            return
        }
        // Judged under the write lock only: between two reads another process may make the schema.
        try db.inTransaction(.immediate) {
            for (index, step) in steps.enumerated().dropFirst(try version(of: db)) {
                try db.execute(sql: step)
                try db.execute(sql: "PRAGMA user_version = \(index + 1)")
            }
            return .commit
        }
    }

    /// The number of steps the store has taken; refuses what this program cannot know.
    private static func version(of db: Database) throws -> Int {
        let isEmpty = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0
        guard try isEmpty || number("application_id", of: db) == applicationID else { throw Refusal.foreign }
        let version = try number("user_version", of: db)
        guard version <= steps.count else { throw Refusal.newer(version) }
        return version
    }

    private static func number(_ pragma: String, of db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0
    }

    /// Why a healthy database is not used.
    enum Refusal: Error {
        case newer(Int)
        case foreign
    }

    /// Columns for what is asked about, JSON for what is only carried. `request` lacks what has a column of its own;
    /// `created` and `updated` are milliseconds since 1970. AUTOINCREMENT: an id is never used again.
    private static let version1 = """
        PRAGMA application_id = \(applicationID);
        CREATE TABLE download (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT,
            state TEXT NOT NULL,
            priority INTEGER NOT NULL,
            folder TEXT NOT NULL,
            askedName TEXT,
            fileName TEXT,
            url TEXT NOT NULL,
            received INTEGER NOT NULL DEFAULT 0,
            total INTEGER,
            speed REAL,
            isFinishing INTEGER NOT NULL DEFAULT 0,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            request TEXT NOT NULL,
            stateDetail TEXT,
            resume TEXT,
            attempts TEXT,
            completed TEXT
        );
        CREATE INDEX downloadByDestination ON download (folder, url);
        CREATE INDEX downloadActive ON download (session, priority DESC)
            WHERE state IN ('queued', 'running', 'waiting');
        """
}
