import GRDB

/// The schema of the store, with one step for each version. Steps are appended and never edited, so that old stores can
/// always be opened. If a stored JSON value gains a field that is not optional, a step must write the field into the
/// old rows. The request is an exception, because any field may be missing in a `RequestDocument`.
enum Migrations {
    /// The number that marks the file as dlm's (`PRAGMA application_id`): "dlm1" in ASCII.
    static let applicationID = 0x646C_6D31

    static let steps: [String] = [version1, version2, version3, version4, version5, version6, version7, version8]

    /// The version that has the tables `list`, `item` and `done`.
    static let firstWithItems = 6

    /// Brings the store to the newest schema. Any number of processes may do so at the same moment.
    static func run(on db: Database) throws {
        if try number("user_version", of: db) == steps.count, try number("application_id", of: db) == applicationID {
            return
        }
        // The version is read again under the write lock, because another process may create the schema between two
        // reads.
        try db.inTransaction(.immediate) {
            for (index, step) in steps.enumerated().dropFirst(try version(of: db)) {
                try db.execute(sql: step)
                try db.execute(sql: "PRAGMA user_version = \(index + 1)")
            }
            return .commit
        }
    }

    /// Throws if the file is a database of another program. The number is read last: the step that creates the first
    /// table also sets the number, so a store that another process is creating is not taken for foreign.
    static func requireStore(_ db: Database) throws {
        let isEmpty = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0
        guard try isEmpty || number("application_id", of: db) == applicationID else { throw Refusal.foreign }
    }

    /// Returns the number of steps that a store has taken. Returns nil for an empty file; the next process that opens
    /// the file turns it into a store.
    static func known(in db: Database) throws -> Int? {
        let version = try version(of: db)
        return version == 0 ? nil : version
    }

    /// Returns the number of steps that the store has taken. Throws if the file is not a store, or has a newer schema.
    private static func version(of db: Database) throws -> Int {
        try requireStore(db)
        let version = try number("user_version", of: db)
        guard version <= steps.count else { throw Refusal.newer(version) }
        return version
    }

    /// Throws if a newer program has changed the schema since the store was opened. What is added then could be
    /// something that the newer schema already has, and only the newer program would find it.
    static func requireUnchanged(_ db: Database) throws {
        let version = try number("user_version", of: db)
        guard version <= steps.count else { throw Refusal.becameNewer(version) }
    }

    private static func number(_ pragma: String, of db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0
    }

    /// The reason why a file is not used as the store.
    enum Refusal: Error {
        case newer(Int)
        case becameNewer(Int)
        case foreign
        case notRegular
        case danglingLink
    }

    /// Values that queries use have columns; other values are in JSON. `request` lacks the values that have columns of
    /// their own. `created` and `updated` are milliseconds since 1970. With AUTOINCREMENT an id is never used again.
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

    /// The log of events, which triggers write, and an index for each query that must be fast with a million downloads.
    /// The times of events are milliseconds since 1970.
    private static let version2 = """
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
            total INTEGER
        );
        CREATE TRIGGER downloadAdded AFTER INSERT ON download BEGIN
            \(log("'added'", session: "NEW.session"));
        END;
        CREATE TRIGGER downloadMoved AFTER UPDATE OF state, received ON download
        WHEN NEW.state <> OLD.state OR (NEW.received < OLD.received AND NEW.state = 'running') BEGIN
            \(log(kindOfMove, session: "coalesce(NEW.session, OLD.session)"));
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
        DROP INDEX downloadActive;
        CREATE INDEX downloadQueued ON download (session, priority DESC) WHERE state = 'queued';
        CREATE INDEX downloadPaused ON download (session, stateDetail)
            WHERE state = 'paused' AND session IS NOT NULL;
        CREATE INDEX downloadEnded ON download (updated) WHERE state IN ('completed', 'failed', 'cancelled');
        CREATE INDEX downloadByState ON download (state);
        """

    /// The host profiles by origin, for the number of connections; `learned` is in milliseconds since 1970. The
    /// condition of the index `downloadEnded` uses OR now. With IN, SQLite makes a table for each row that it writes,
    /// which was a third of the cost of a save. Additions are logged by the statement that adds rows (``logAdded``),
    /// which is faster than a trigger for many rows. A change of state is logged with the time of the row. For a
    /// trigger that asks for the time, SQLite would copy each page before it changes the page (``RowWriter``).
    private static let version3 = """
        CREATE TABLE host (
            origin TEXT PRIMARY KEY,
            best INTEGER NOT NULL,
            cap INTEGER,
            learned INTEGER NOT NULL
        ) WITHOUT ROWID;
        DROP TRIGGER downloadAdded;
        DROP TRIGGER downloadMoved;
        CREATE TRIGGER downloadMoved AFTER UPDATE OF state, received ON download
        WHEN NEW.state <> OLD.state OR (NEW.received < OLD.received AND NEW.state = 'running') BEGIN
            \(log(kindOfMove, time: "NEW.updated", session: "coalesce(NEW.session, OLD.session)"));
        END;
        DROP INDEX downloadEnded;
        CREATE INDEX downloadEnded ON download (updated)
            WHERE state = 'completed' OR state = 'failed' OR state = 'cancelled';
        """

    /// The due hooks (``SQLiteDownloadStore/takeHook(session:)``). Each row has the record at the end of the download,
    /// because the download may be resumed or removed before its hook runs.
    private static let version4 = """
        CREATE TABLE hook (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT NOT NULL,
            record TEXT NOT NULL
        );
        """

    /// The small files that are about to get their names (``IntentRow``). The row of such a file changes from `queued`
    /// to `completed` directly, but the log still has the event of its start.
    private static let version5 = """
        CREATE TABLE intent (
            id INTEGER PRIMARY KEY,
            session TEXT NOT NULL,
            fileName TEXT NOT NULL,
            total INTEGER NOT NULL,
            resume TEXT NOT NULL,
            updated INTEGER NOT NULL
        );
        DROP TRIGGER downloadMoved;
        CREATE TRIGGER downloadMoved AFTER UPDATE OF state, received ON download
        WHEN NEW.state <> OLD.state OR (NEW.received < OLD.received AND NEW.state = 'running') BEGIN
            INSERT INTO event (time, kind, download, name, url, session, state, stateDetail, received, total)
            SELECT updated, 'started', id, fileName, NEW.url, session, 'running', NULL, 0, total
            FROM intent WHERE id = NEW.id AND OLD.state = 'queued' AND NEW.state <> 'running';
            \(log(kindOfMove, time: "NEW.updated", session: "coalesce(NEW.session, OLD.session)"));
        END;
        """

    /// The downloads of a list, in tables to which a whole batch is written without JSON, triggers or indexes of
    /// states.
    ///
    /// An `item` is queued, or it is completed and has a row in `done`. When an item gets any other state, it becomes a
    /// row of `download` with the same id (``ItemPromotion``), and `done.isMoved` is set. The row of the item stays for
    /// the log of events. The items of one `list` have the ids `first` to `last`, and `list.queued` is the number of
    /// items without a row in `done`. `item.hash` is ``ItemHash`` of the URL. `done.started` and `done.ended` are
    /// seconds since 2001, as in `attempts`. A row of `event` with a `batch` stands for one event of each download that
    /// `batch` lists; the last of these events has the cursor `seq`. `itemIntent` has the items that are about to get
    /// their names (``ItemIntents``).
    private static let version6 = """
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
        ALTER TABLE event ADD COLUMN batch TEXT;
        """

    /// The segments of the index by which items are found (``ItemSegments``). In `item.hash`, the number of the segment
    /// precedes the lower 40 bits of the hash. `itemSegment.items` is the number of items that were added to the segment
    /// since this step, and of those that were there before it. `filter` is its ``HashFilter``, or NULL.
    private static let version7 = """
        DROP INDEX itemByHash;
        UPDATE item SET hash = hash & 0xFFFFFFFFFF;
        CREATE INDEX itemByHash ON item (hash);
        CREATE TABLE itemSegment (
            id INTEGER PRIMARY KEY,
            items INTEGER NOT NULL,
            filter BLOB
        );
        INSERT INTO itemSegment (id, items) SELECT 0, count(*) FROM item;
        """

    /// In version 7 only a full segment had a filter. Now a segment that is not full may have one, and a program that
    /// does not add its new items to the filter must not open the store.
    private static let version8 = "UPDATE itemSegment SET filter = NULL WHERE items < 32768;"

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
