import GRDB

/// The schema of the store. If a stored JSON value gains a field that is not optional, old rows must get the field in a
/// new version. The request is an exception, because any field may be missing in a `RequestDocument`.
enum Schema {
    /// The number that marks the file as dlm's (`PRAGMA application_id`): "dlms" in ASCII.
    static let applicationID = 0x646C_6D73
    /// The number of the programs before the first release: "dlm1" in ASCII.
    private static let unreleasedID = 0x646C_6D31
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
        if id == unreleasedID { throw Refusal.unreleased }
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

    private static let tables = downloads + events + others + lists

    /// Values that queries use have columns; other values are in JSON. `request` lacks the values that have columns of
    /// their own. `created` and `updated` are milliseconds since 1970. With AUTOINCREMENT an id is never used again.
    /// There is an index for each query that must be fast with a million downloads. The condition of the index
    /// `downloadEnded` uses OR: with IN, SQLite makes a table for each row that it writes, which was a third of the cost
    /// of a save.
    private static let downloads = """
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
        CREATE INDEX downloadQueued ON download (session, priority DESC) WHERE state = 'queued';
        CREATE INDEX downloadPaused ON download (session, stateDetail)
            WHERE state = 'paused' AND session IS NOT NULL;
        CREATE INDEX downloadByState ON download (state);
        CREATE INDEX downloadEnded ON download (updated)
            WHERE state = 'completed' OR state = 'failed' OR state = 'cancelled';
        """

    /// The log of events. Its times are milliseconds since 1970. A row with a `batch` stands for one event of each
    /// download that `batch` lists; the last of these events has the cursor `seq`.
    ///
    /// Triggers write the log, except for additions: the statement that adds rows logs them, too (``logAdded``), which
    /// is faster for many rows. A change of state is logged with the time of the row. For a trigger that asks for the
    /// time, SQLite would copy each page before it changes the page (``RowWriter``). The row of a small file changes
    /// from `queued` to `completed` directly, but the log still has the event of its start, from `intent`.
    private static let events = """
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
        CREATE TRIGGER downloadMoved AFTER UPDATE OF state, received ON download
        WHEN NEW.state <> OLD.state OR (NEW.received < OLD.received AND NEW.state = 'running') BEGIN
            INSERT INTO event (time, kind, download, name, url, session, state, stateDetail, received, total)
            SELECT updated, 'started', id, fileName, NEW.url, session, 'running', NULL, 0, total
            FROM intent WHERE id = NEW.id AND OLD.state = 'queued' AND NEW.state <> 'running';
            \(log(kindOfMove, time: "NEW.updated", session: "coalesce(NEW.session, OLD.session)"));
        END;
        CREATE TRIGGER downloadChanged AFTER UPDATE OF url, priority ON download
        WHEN NEW.url <> OLD.url OR NEW.priority <> OLD.priority BEGIN
            \(log("'changed'", session: "NEW.session"));
        END;
        CREATE TRIGGER downloadLimited AFTER UPDATE OF request ON download
        WHEN CASE WHEN NEW.request = OLD.request OR NOT json_valid(NEW.request) OR NOT json_valid(OLD.request) THEN 0
            ELSE json_extract(NEW.request, '$.rateLimit') IS NOT json_extract(OLD.request, '$.rateLimit') END BEGIN
            \(log("'changed'", session: "NEW.session"));
        END;
        CREATE TRIGGER downloadRemoved AFTER DELETE ON download BEGIN
            \(log("'removed'", row: "OLD", state: "NULL, NULL", session: "OLD.session"));
        END;
        """

    /// `host` has the host profiles by origin, for the number of connections; `learned` is in milliseconds since 1970.
    /// `hook` has the due hooks (``SQLiteDownloadStore/takeHook(session:)``), each with the record at the end of the
    /// download, because the download may be resumed or removed before its hook runs. `intent` has the small files that
    /// are about to get their names (``IntentRow``).
    private static let others = """
        CREATE TABLE host (
            origin TEXT PRIMARY KEY,
            best INTEGER NOT NULL,
            cap INTEGER,
            learned INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE hook (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT NOT NULL,
            record TEXT NOT NULL
        );
        CREATE TABLE intent (
            id INTEGER PRIMARY KEY,
            session TEXT NOT NULL,
            fileName TEXT NOT NULL,
            total INTEGER NOT NULL,
            resume TEXT NOT NULL,
            updated INTEGER NOT NULL
        );
        """

    /// The downloads of a list, in tables to which a whole batch is written without JSON, triggers or indexes of
    /// states.
    ///
    /// An `item` is queued, or it is completed and has a row in `done`. When an item gets any other state, it becomes a
    /// row of `download` with the same id (``ItemPromotion``), and `done.isMoved` is set. The row of the item stays for
    /// the log of events. The items of one `list` have the ids `first` to `last`, and `list.queued` is the number of
    /// items without a row in `done`. `done.started` and `done.ended` are seconds since 2001, as in `attempts`.
    /// `itemIntent` has the items that are about to get their names (``ItemIntents``).
    ///
    /// An index by `item.hash` finds items by their URLs. The number of the segment of the index (``ItemSegments``)
    /// precedes the lower 40 bits of ``ItemHash``. `itemSegment.items` is the number of items that were added to the
    /// segment, and `filter` is its ``HashFilter``, or NULL.
    private static let lists = """
        CREATE TABLE list (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT,
            priority INTEGER NOT NULL,
            folder TEXT NOT NULL,
            askedName TEXT,
            created INTEGER NOT NULL,
            request TEXT NOT NULL,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            queued INTEGER NOT NULL
        );
        CREATE INDEX listQueued ON list (session, priority DESC, first) WHERE queued > 0;
        CREATE TABLE item (
            id INTEGER PRIMARY KEY,
            list INTEGER NOT NULL,
            hash INTEGER NOT NULL,
            url TEXT NOT NULL
        );
        CREATE INDEX itemByHash ON item (hash);
        CREATE TABLE done (
            id INTEGER PRIMARY KEY,
            isMoved INTEGER NOT NULL,
            fileName TEXT,
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
            updated INTEGER,
            metrics TEXT
        );
        CREATE TABLE itemIntent (
            id INTEGER PRIMARY KEY,
            session TEXT NOT NULL,
            items TEXT NOT NULL
        );
        CREATE TABLE itemSegment (
            id INTEGER PRIMARY KEY,
            items INTEGER NOT NULL,
            filter BLOB
        );
        INSERT INTO itemSegment (id, items) VALUES (0, 0);
        """

    private static let kindOfMove = """
        CASE WHEN NEW.state = OLD.state THEN 'restarted' WHEN NEW.state = 'queued' THEN 'resumed'
            WHEN NEW.state = 'running' THEN 'started' ELSE NEW.state END
        """

    /// The statement that logs the addition of the rows from one id to another.
    static let logAdded = """
        INSERT INTO event (time, kind, download, name, url, session, state, stateDetail, received, total)
        SELECT created, 'added', id, askedName, url, session, state, stateDetail, received, total
        FROM download WHERE id BETWEEN ? AND ?
        """

    private static let now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

    /// Returns the statement of a trigger that logs an event of `row`.
    private static func log(
        _ kind: String, time: String = now, row: String = "NEW", state: String = "NEW.state, NEW.stateDetail",
        session: String
    ) -> String {
        """
        INSERT INTO event (time, kind, download, name, url, session, state, stateDetail, received, total)
        VALUES (\(time), \(kind), \(row).id,
            coalesce(\(row).fileName, \(row).askedName), \(row).url, \(session), \(state), \(row).received,
            \(row).total)
        """
    }
}
