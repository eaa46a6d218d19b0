-- A store as schema version 8 left it: .dump of the sqlite3 program, and the two pragmas that a dump leaves out.
PRAGMA application_id = 1684827441;
PRAGMA user_version = 8;
BEGIN TRANSACTION;
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
INSERT INTO "download" VALUES(2,'4711-abc','waiting',7,'/srv/data','asked.bin','name (1).bin','https://example.org/files/moved',200,5000000000,12.5,1,1740000000000,1750000000123,'{"checksum":{"algorithm":"md5","digest":"abababababababababababababababab"},"connections":4,"destination":{"createsFolders":false,"folder":"","ifExists":"rename"},"headers":[{"name":"X-Purpose","value":"é\n\"quoted\""}],"priority":0,"redirect":{"limit":3},"retry":{"delay":0.25,"limit":9,"maximumDelay":"inf"},"timeouts":{"connect":1.5,"stall":"inf"},"trust":"insecure","url":"http://column.invalid/"}','{"waiting":{"_0":{"retry":{"_0":{"networkFailed":{"_0":"stalled","_1":{"code":28,"errno":110,"message":"slow"}}}}},"until":821692800.5}}','{"acceptsRanges":true,"bootID":"boot","contentType":"application/zip","durable":[[0,100]],"file":{"born":1700000000000000001,"inode":18446744073709551615},"finalURL":"https://example.org/files/elsewhere","total":5000000000,"validators":{"etag":{"isWeak":false,"opaque":"v1"},"lastModified":"Mon, 01 Jan 2024 00:00:00 GMT","lastModifiedIsStrong":true},"written":[[0,100],[200,300]]}','[{"connections":1,"ended":721692801,"metrics":{"connect":0,"firstByte":0.125,"nameLookup":0,"received":0,"remoteAddress":"192.0.2.7","reusedConnection":false,"tls":0,"total":0},"outcome":"stalled","received":100,"redirects":0,"started":721692800.25}]','{"bytes":42,"checksum":{"algorithm":"md5","digest":"abababababababababababababababab"},"identity":{"inode":7},"modified":1700000000123,"path":"/srv/data/name (1).bin","validators":{"etag":{"isWeak":true,"opaque":"old"},"lastModifiedIsStrong":false},"wasCurrent":false}');
INSERT INTO "download" VALUES(4,NULL,'completed',0,'/home/me',NULL,'d.bin','https://example.org/files/d',3,3,NULL,0,1740000000000,1740000000000,'{"connections":1,"destination":{"createsFolders":true,"folder":"","ifExists":"fail"},"headers":[],"priority":0,"redirect":{"limit":20},"retry":{"delay":1,"limit":5,"maximumDelay":60},"timeouts":{"connect":15,"stall":30},"trust":"system","url":"http://column.invalid/"}',NULL,NULL,NULL,'{"bytes":3,"identity":{"born":1,"inode":9},"modified":2,"path":"/srv/d.bin","validators":{"etag":{"isWeak":false,"opaque":"x"},"lastModifiedIsStrong":false},"wasCurrent":false}');
INSERT INTO "download" VALUES(5,NULL,'failed',0,'/home/me',NULL,NULL,'https://example.org/files/e',0,NULL,NULL,0,1740000000000,1740000000000,'{"connections":1,"destination":{"createsFolders":true,"folder":"","ifExists":"fail"},"headers":[],"priority":0,"redirect":{"limit":20},"retry":{"delay":1,"limit":5,"maximumDelay":60},"timeouts":{"connect":15,"stall":30},"trust":"system","url":"http://column.invalid/"}','{"failed":{"_0":{"serverRefused":{"phrase":"Not Found","status":404}}}}',NULL,NULL,NULL);
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
, batch TEXT);
INSERT INTO "event" VALUES(1,1740000000000,'added',1,NULL,'https://example.org/files/a','4711-abc','queued',NULL,0,NULL,NULL);
INSERT INTO "event" VALUES(2,1740000000000,'added',2,NULL,'https://example.org/files/b','4711-abc','queued',NULL,0,NULL,NULL);
INSERT INTO "event" VALUES(3,1740000000000,'added',3,NULL,'https://example.org/files/c','4711-abc','queued',NULL,0,NULL,NULL);
INSERT INTO "event" VALUES(4,1740000000000,'added',4,NULL,'https://example.org/files/d','4711-abc','queued',NULL,0,NULL,NULL);
INSERT INTO "event" VALUES(5,1740000000000,'added',5,NULL,'https://example.org/files/e','4711-abc','queued',NULL,0,NULL,NULL);
INSERT INTO "event" VALUES(6,1740000000000,'waiting',2,'name (1).bin','https://example.org/files/b','4711-abc','waiting','{"waiting":{"_0":{"retry":{"_0":{"networkFailed":{"_0":"stalled","_1":{"code":28,"errno":110,"message":"slow"}}}}},"until":821692800.5}}',200,5000000000,NULL);
INSERT INTO "event" VALUES(7,1740000000000,'changed',2,'name (1).bin','https://example.org/files/moved','4711-abc','waiting','{"waiting":{"_0":{"retry":{"_0":{"networkFailed":{"_0":"stalled","_1":{"code":28,"errno":110,"message":"slow"}}}}},"until":821692800.5}}',200,5000000000,NULL);
INSERT INTO "event" VALUES(8,1740000000000,'completed',4,'d.bin','https://example.org/files/d','4711-abc','completed',NULL,3,3,NULL);
INSERT INTO "event" VALUES(9,1740000000000,'failed',5,NULL,'https://example.org/files/e','4711-abc','failed','{"failed":{"_0":{"serverRefused":{"phrase":"Not Found","status":404}}}}',0,NULL,NULL);
INSERT INTO "event" VALUES(10,1740000000000,'removed',3,NULL,'https://example.org/files/c','4711-abc',NULL,NULL,0,NULL,NULL);
CREATE TABLE hook (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    record TEXT NOT NULL
);
CREATE TABLE host (
    origin TEXT PRIMARY KEY,
    best INTEGER NOT NULL,
    cap INTEGER,
    learned INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "host" VALUES('http://example.net:8080',4,4,1750000000123);
INSERT INTO "host" VALUES('https://example.org:443',6,NULL,1750000000123);
CREATE TABLE intent (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    fileName TEXT NOT NULL,
    total INTEGER NOT NULL,
    resume TEXT NOT NULL,
    updated INTEGER NOT NULL
);
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    list INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    url TEXT NOT NULL
);
INSERT INTO "item" VALUES(1,1,395408752876,'https://example.org/files/a');
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
INSERT INTO "itemSegment" VALUES(0,1,NULL);
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
INSERT INTO "list" VALUES(1,'4711-abc',0,'/home/me',NULL,1740000000000,'{"connections":1,"destination":{"createsFolders":true,"folder":"","ifExists":"fail"},"headers":[],"priority":0,"redirect":{"limit":20},"retry":{"delay":1,"limit":5,"maximumDelay":60},"timeouts":{"connect":15,"stall":30},"trust":"system","url":"http://column.invalid/"}',1,1,1);
CREATE INDEX downloadByDestination ON download (folder, url);
CREATE TRIGGER downloadChanged AFTER UPDATE OF url, priority ON download
WHEN NEW.url <> OLD.url OR NEW.priority <> OLD.priority BEGIN
    INSERT INTO event (time, kind, download, name, url, session, state, stateDetail, received, total)
VALUES (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 'changed', NEW.id,
    coalesce(NEW.fileName, NEW.askedName), NEW.url, NEW.session, NEW.state, NEW.stateDetail, NEW.received,
    NEW.total);
END;
CREATE TRIGGER downloadLimited AFTER UPDATE OF request ON download
WHEN CASE WHEN NEW.request = OLD.request OR NOT json_valid(NEW.request) OR NOT json_valid(OLD.request) THEN 0
    ELSE json_extract(NEW.request, '$.rateLimit') IS NOT json_extract(OLD.request, '$.rateLimit') END BEGIN
    INSERT INTO event (time, kind, download, name, url, session, state, stateDetail, received, total)
VALUES (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 'changed', NEW.id,
    coalesce(NEW.fileName, NEW.askedName), NEW.url, NEW.session, NEW.state, NEW.stateDetail, NEW.received,
    NEW.total);
END;
CREATE INDEX downloadQueued ON download (session, priority DESC) WHERE state = 'queued';
CREATE INDEX downloadPaused ON download (session, stateDetail)
    WHERE state = 'paused' AND session IS NOT NULL;
CREATE INDEX downloadByState ON download (state);
CREATE INDEX downloadEnded ON download (updated)
            WHERE state = 'completed' OR state = 'failed' OR state = 'cancelled';
CREATE TRIGGER downloadMoved AFTER UPDATE OF state, received ON download
WHEN NEW.state <> OLD.state OR (NEW.received < OLD.received AND NEW.state = 'running') BEGIN
    INSERT INTO event (time, kind, download, name, url, session, state, stateDetail, received, total)
    SELECT updated, 'started', id, fileName, NEW.url, session, 'running', NULL, 0, total
    FROM intent WHERE id = NEW.id AND OLD.state = 'queued' AND NEW.state <> 'running';
    INSERT INTO event (time, kind, download, name, url, session, state, stateDetail, received, total)
VALUES (NEW.updated, CASE WHEN NEW.state = OLD.state THEN 'restarted' WHEN NEW.state = 'queued' THEN 'resumed'
    WHEN NEW.state = 'running' THEN 'started' ELSE NEW.state END, NEW.id,
    coalesce(NEW.fileName, NEW.askedName), NEW.url, coalesce(NEW.session, OLD.session), NEW.state, NEW.stateDetail, NEW.received,
    NEW.total);
END;
CREATE INDEX listQueued ON list (session, priority DESC, first) WHERE queued > 0;
CREATE TRIGGER downloadRemoved AFTER DELETE ON download BEGIN
    INSERT INTO event (time, kind, download, name, url, session, state, stateDetail, received, total)
VALUES (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 'removed', OLD.id,
    coalesce(OLD.fileName, OLD.askedName), OLD.url, OLD.session, NULL, NULL, OLD.received,
    OLD.total);
END;
CREATE INDEX itemByHash ON item (hash);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('event',10);
INSERT INTO "sqlite_sequence" VALUES('download',5);
INSERT INTO "sqlite_sequence" VALUES('list',1);
COMMIT;
