import GRDB

/// The schema of the store. If a stored JSON value gains a field that is not optional, old rows must get the field in a
/// new version. The request is an exception, because any field may be missing in a `RequestDocument`.
enum Schema {
    /// The number that marks the file as dlm's (`PRAGMA application_id`): "dlmd" in ASCII.
    static let applicationID = 0x646C_6D64
    /// The numbers of the programs before the first release: "dlm1" and "dlms" in ASCII.
    private static let unreleasedIDs = [0x646C_6D31, 0x646C_6D73]
    static let version = 1

    /// Makes the tables if there are none. Any number of processes may do so at the same moment.
    static func make(in db: Database) throws {
        if try number("user_version", of: db) == version, try number("application_id", of: db) == applicationID {
            return
        }
        // The version is read again under the write lock, because another process may create the schema between two
        // reads.
        try db.inTransaction(.immediate) {
            if try known(in: db) == nil {
                try db.execute(sql: tables)
                try db.execute(sql: "PRAGMA user_version = \(version)")
            }
            return .commit
        }
    }

    /// Throws if the file is a database of another program. The number is read last: the statement that creates the
    /// first table also sets the number, so a store that another process is creating is not taken for foreign.
    static func requireStore(_ db: Database) throws {
        let isEmpty = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0
        let id = try number("application_id", of: db)
        if unreleasedIDs.contains(id) { throw Refusal.unreleased }
        guard isEmpty || id == applicationID else { throw Refusal.foreign }
    }

    /// Returns the version of the store. Returns nil for an empty file; the next process that opens the file turns it
    /// into a store. Throws if the file is not a store, or has a newer schema.
    static func known(in db: Database) throws -> Int? {
        try requireStore(db)
        let known = try number("user_version", of: db)
        guard known <= version else { throw Refusal.newer(known) }
        return known == 0 ? nil : known
    }

    /// Throws if a newer program has changed the schema since the store was opened. What is added then could be
    /// something that the newer schema already has, and only the newer program would find it.
    static func requireUnchanged(_ db: Database) throws {
        let known = try number("user_version", of: db)
        guard known <= version else { throw Refusal.becameNewer(known) }
    }

    private static func number(_ pragma: String, of db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0
    }

    /// The reason why a file is not used as the store.
    enum Refusal: Error {
        case newer(Int)
        case becameNewer(Int)
        case unreleased
        case foreign
        case notRegular
        case danglingLink
    }

    private static let tables = downloads + others + knowledge

    /// The tables of downloads (docs/internals/store.md). `request.queued` is the number of the request's downloads
    /// without a row of `detail`, and the ids of its downloads are between `first` and `last`.
    ///
    /// Values of `detail` that queries use have columns; other values are in JSON. With the result of a small file
    /// (``DoneRow``), from `bytes` on, `resume` and `completed` are NULL; `attempts` has the attempts before the last.
    /// ``RowReader`` checks the values. There is an index for each query that must be fast with a million downloads.
    ///
    /// `segment.items` is the number of downloads that were added to the segment (``HashSegments``). Times are
    /// milliseconds since 1970, except for `started` and `ended`, which are seconds since 2001, as in `attempts`. With
    /// AUTOINCREMENT an id is never used again.
    private static let downloads = """
        PRAGMA application_id = \(applicationID);
        CREATE TABLE request (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT,
            priority INTEGER NOT NULL,
            folder TEXT NOT NULL,
            askedName TEXT,
            created INTEGER NOT NULL,
            document TEXT NOT NULL,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            queued INTEGER NOT NULL
        );
        CREATE INDEX requestQueued ON request (session, priority DESC, first) WHERE queued > 0;
        CREATE TABLE download (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            request INTEGER NOT NULL,
            hash INTEGER NOT NULL,
            url TEXT NOT NULL
        );
        CREATE INDEX downloadByHash ON download (hash);
        CREATE TABLE detail (
            id INTEGER PRIMARY KEY,
            session TEXT,
            state TEXT,
            stateDetail TEXT,
            priority INTEGER,
            fileName TEXT,
            received INTEGER,
            total INTEGER,
            speed REAL,
            isFinishing INTEGER,
            updated INTEGER,
            resume TEXT,
            attempts TEXT,
            completed TEXT,
            bytes INTEGER,
            inode INTEGER,
            born INTEGER,
            modified INTEGER,
            etag TEXT,
            etagIsWeak INTEGER,
            lastModified TEXT,
            lastModifiedIsStrong INTEGER,
            contentType TEXT,
            acceptsRanges INTEGER,
            hasFinalURL INTEGER,
            started REAL,
            ended REAL,
            metrics TEXT
        );
        CREATE INDEX detailByState ON detail (state) WHERE state <> 'completed';
        CREATE INDEX detailQueued ON detail (session, priority DESC) WHERE state = 'queued';
        CREATE INDEX detailPaused ON detail (session, stateDetail) WHERE state = 'paused' AND session IS NOT NULL;
        CREATE TABLE segment (
            id INTEGER PRIMARY KEY,
            items INTEGER NOT NULL,
            filter BLOB
        );
        INSERT INTO segment (id, items) VALUES (0, 0);
        """

    /// `event` is the log (``EventLog``); its times are milliseconds since 1970. A row with a `batch` stands for one event
    /// of each download that `batch` lists; `seq` is the cursor of the last of these events, and `download` is the lowest id among them. `intent` has the small files
    /// that are about to get their names (``Intents``).
    ///
    /// `hook` has the due hooks (``SQLiteDownloadStore/takeHook(session:)``), each with the record at the end of the
    /// download, because the download may be resumed or removed before its hook runs.
    private static let others = """
        CREATE TABLE event (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            time INTEGER NOT NULL,
            kind TEXT NOT NULL,
            download INTEGER NOT NULL,
            name TEXT,
            url TEXT NOT NULL,
            session TEXT,
            state TEXT,
            stateDetail TEXT,
            received INTEGER NOT NULL,
            total INTEGER,
            batch TEXT
        );
        CREATE INDEX eventBatch ON event (download) WHERE batch IS NOT NULL;
        CREATE TABLE intent (
            id INTEGER PRIMARY KEY,
            session TEXT NOT NULL,
            files TEXT NOT NULL
        );
        CREATE TABLE hook (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT NOT NULL,
            record TEXT NOT NULL
        );
        """

    /// The knowledge about servers (``KnowledgeRows``), as JSON; `learned` is in milliseconds since 1970. The first
    /// stores do not have this table, so it is also made for the first row. The number of a row is needed by
    /// ``StoreRescue``.
    static let knowledge = """
        CREATE TABLE IF NOT EXISTS knowledge (
            kind TEXT NOT NULL,
            place TEXT NOT NULL,
            value TEXT NOT NULL,
            learned REAL NOT NULL,
            PRIMARY KEY (kind, place)
        );
        """
}
