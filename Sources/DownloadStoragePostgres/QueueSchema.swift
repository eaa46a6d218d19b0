/// The tables of a queue, in the schema `dlm` of a database. States of items: 0 queued, 1 leased, 2 done, 3 failed and
/// worth another run, 4 failed for good.
enum QueueSchema {
    /// The key of the advisory lock under which queued items are added: "dlm" and a number.
    static let addingLock = 0x646C_6D02

    static let tables = """
        CREATE SCHEMA IF NOT EXISTS dlm;
        CREATE TABLE dlm.version (version int NOT NULL);
        CREATE TABLE dlm.queue (is_paused boolean NOT NULL);
        INSERT INTO dlm.queue VALUES (false);

        -- Options of requests, each text once.
        CREATE TABLE dlm.request (
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            key uuid NOT NULL UNIQUE,
            document text NOT NULL);

        -- queued is the number of queued items of the host, and workers is the number of its slots. Every change of
        -- items or slots also changes these numbers.
        CREATE TABLE dlm.host (
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL UNIQUE,
            queued bigint NOT NULL DEFAULT 0,
            workers int NOT NULL DEFAULT 0,
            most_workers int CHECK (most_workers > 0),
            next_time timestamptz NOT NULL DEFAULT '-infinity',
            is_paused boolean NOT NULL DEFAULT false) WITH (fillfactor = 50);
        CREATE INDEX host_ready ON dlm.host (next_time, id) WHERE queued > 0 AND NOT is_paused;

        CREATE TABLE dlm.worker (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL,
            started timestamptz NOT NULL DEFAULT clock_timestamp(),
            lease interval NOT NULL,
            until timestamptz NOT NULL) WITH (fillfactor = 50);

        -- A slot stands for a host that a worker works on. leased is the number of the host's URLs that the worker has
        -- leased.
        CREATE TABLE dlm.slot (
            host int NOT NULL REFERENCES dlm.host,
            worker bigint NOT NULL REFERENCES dlm.worker,
            leased int NOT NULL,
            PRIMARY KEY (host, worker)) WITH (fillfactor = 50);
        CREATE INDEX slot_worker ON dlm.slot (worker);

        -- key is the beginning of the SHA-256 digest of the URL. folder is relative to the folder of the request, or
        -- absolute. worker is the worker that has leased or ended the item. result is a line of JSON. change is the
        -- transaction that recorded the end.
        CREATE TABLE dlm.item (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            key uuid NOT NULL UNIQUE
                CHECK (key = substring(encode(sha256(convert_to(url, 'UTF8')), 'hex') FOR 32)::uuid),
            url text NOT NULL CHECK (octet_length(url) <= 65536),
            host int NOT NULL REFERENCES dlm.host,
            request int NOT NULL REFERENCES dlm.request,
            folder text NOT NULL,
            name text,
            state smallint NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 4),
            attempts int NOT NULL DEFAULT 0,
            first_leased timestamptz,
            worker bigint,
            bytes bigint,
            ended timestamptz,
            change xid8,
            error text,
            result text) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
        CREATE INDEX item_queued ON dlm.item (host, id) WHERE state = 0;
        CREATE INDEX item_leased ON dlm.item (worker) WHERE state = 1;
        CREATE INDEX item_failed ON dlm.item (id) WHERE state >= 3;
        CREATE INDEX item_ended ON dlm.item (change) WHERE state >= 2;

        -- The rows that COPY has sent, until enqueue() moves them to dlm.item in the same transaction.
        CREATE UNLOGGED TABLE dlm.incoming (
            position int, key uuid, url text, host text, request int, folder text, name text);
        """

    /// The head of each function that reads large tables. The tables are small when PostgreSQL makes the plans, and
    /// large later. So plans without indexes are forbidden.
    static let indexed = """
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
        SET enable_bitmapscan = off SET jit = off
        """

    static let enqueueing = """
        -- Returns the numbers of the documents, in their order.
        CREATE FUNCTION dlm.add_requests(keys uuid[], documents text[]) RETURNS SETOF int
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            INSERT INTO dlm.request (key, document)
            SELECT u.key, u.document FROM unnest(keys, documents) u(key, document) ORDER BY u.key
            ON CONFLICT DO NOTHING;
            RETURN QUERY SELECT r.id FROM unnest(keys) WITH ORDINALITY u(key, n)
                JOIN dlm.request r ON r.key = u.key ORDER BY u.n;
        END $$;

        CREATE FUNCTION dlm.enqueue() RETURNS TABLE (added bigint, known bigint)
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE
            all_rows bigint;
            new_hosts int[];
        BEGIN
            -- Without this lock, two programs that add the same URLs in different orders would wait for each other.
            PERFORM pg_advisory_xact_lock(\(addingLock));
            INSERT INTO dlm.host (name) SELECT DISTINCT n.host FROM dlm.incoming n ORDER BY 1 ON CONFLICT DO NOTHING;
            WITH rows AS (DELETE FROM dlm.incoming n RETURNING n.*),
            put AS (
                INSERT INTO dlm.item (key, url, host, request, folder, name)
                SELECT r.key, r.url, h.id, r.request, r.folder, r.name
                FROM rows r JOIN dlm.host h ON h.name = r.host ORDER BY r.position
                ON CONFLICT (key) DO NOTHING RETURNING host)
            SELECT (SELECT count(*) FROM rows), (SELECT array_agg(p.host) FROM put p) INTO all_rows, new_hosts;
            PERFORM dlm.count_queued(new_hosts);
            added := coalesce(cardinality(new_hosts), 0);
            known := all_rows - added;
            RETURN NEXT;
        END $$;

        -- Adds 1 to the number of queued items of a host for each entry of hosts.
        CREATE FUNCTION dlm.count_queued(hosts int[]) RETURNS void
        \(indexed) AS $$
        BEGIN
            -- All functions that wait for locks of hosts lock them in this order. So they cannot wait for each other.
            PERFORM 1 FROM dlm.host h WHERE h.id IN (SELECT DISTINCT u.id FROM unnest(hosts) u(id))
            ORDER BY h.id FOR NO KEY UPDATE;
            UPDATE dlm.host h SET queued = h.queued + c.n
            FROM (SELECT u.id, count(*) AS n FROM unnest(hosts) u(id) GROUP BY u.id) c WHERE h.id = c.id;
        END $$;
        """

    static let leasing = """
        CREATE FUNCTION dlm.start_worker(name text, seconds double precision) RETURNS bigint
        LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            INSERT INTO dlm.worker (name, lease, until)
            VALUES ($1, make_interval(secs => $2), clock_timestamp() + make_interval(secs => $2)) RETURNING id
        $$;

        -- Leases at most `most` URLs of at most `most_hosts` hosts. A host gets at most `most_workers` workers, unless
        -- its own most_workers is set. If `keep` is not NULL, all other URLs of the worker are given back first. Also
        -- lengthens the lease of the worker.
        CREATE FUNCTION dlm.lease(worker_id bigint, most int, most_hosts int, most_workers int, keep bigint[])
        RETURNS TABLE (
            id bigint, url text, request int, folder text, name text, attempts int, first_leased double precision)
        \(indexed) AS $$
        DECLARE
            chosen int[];
            others int[];
            held int;
            share int;
        BEGIN
            UPDATE dlm.worker w SET until = clock_timestamp() + w.lease WHERE w.id = worker_id;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'the lease of worker % is over', worker_id USING ERRCODE = 'DL001';
            END IF;
            IF keep IS NOT NULL THEN PERFORM dlm.give_back(worker_id, keep); END IF;
            IF (SELECT q.is_paused FROM dlm.queue q) THEN RETURN; END IF;
            SELECT count(*) INTO held FROM dlm.slot s WHERE s.worker = worker_id;
            SELECT coalesce(array_agg(o.id), '{}') INTO chosen FROM (
                SELECT h.id FROM dlm.slot s JOIN dlm.host h ON h.id = s.host
                WHERE s.worker = worker_id AND h.queued > 0 AND NOT h.is_paused AND h.next_time <= clock_timestamp()
                ORDER BY h.next_time LIMIT most_hosts FOR NO KEY UPDATE OF h SKIP LOCKED) o;
            SELECT coalesce(array_agg(o.id), '{}') INTO others FROM (
                SELECT h.id FROM dlm.host h
                WHERE h.queued > 0 AND NOT h.is_paused AND h.next_time <= clock_timestamp()
                AND h.workers < coalesce(h.most_workers, $4)
                AND NOT EXISTS (SELECT FROM dlm.slot s WHERE s.host = h.id AND s.worker = worker_id)
                ORDER BY h.next_time, h.id LIMIT greatest(0, most_hosts - held)
                FOR NO KEY UPDATE OF h SKIP LOCKED) o;
            chosen := chosen || others;
            IF cardinality(chosen) = 0 THEN RETURN; END IF;
            -- host.queued is too large if somebody has deleted items.
            UPDATE dlm.host h SET queued = 0 WHERE h.id = ANY (chosen)
            AND NOT EXISTS (SELECT FROM dlm.item i WHERE i.host = h.id AND i.state = 0);
            share := ceil(most::numeric / cardinality(chosen));
            RETURN QUERY
            WITH taken AS (
                SELECT o.id FROM unnest(chosen) c(host) CROSS JOIN LATERAL (
                    SELECT i.id FROM dlm.item i WHERE i.host = c.host AND i.state = 0
                    ORDER BY i.id LIMIT share FOR NO KEY UPDATE SKIP LOCKED) o
                LIMIT most),
            leased AS (
                UPDATE dlm.item i SET state = 1, worker = worker_id, attempts = i.attempts + 1,
                    first_leased = coalesce(i.first_leased, clock_timestamp())
                FROM taken t WHERE i.id = t.id
                RETURNING i.id, i.host, i.url, i.request, i.folder, i.name, i.attempts, i.first_leased),
            counts AS (SELECT l.host, count(*)::int AS n FROM leased l GROUP BY l.host),
            slots AS (
                INSERT INTO dlm.slot AS s (host, worker, leased) SELECT c.host, worker_id, c.n FROM counts c
                ON CONFLICT ON CONSTRAINT slot_pkey DO UPDATE SET leased = s.leased + excluded.leased),
            hosts AS (
                UPDATE dlm.host h SET queued = h.queued - c.n, next_time = clock_timestamp(),
                    workers = h.workers + (h.id = ANY (others))::int
                FROM counts c WHERE h.id = c.host)
            SELECT l.id, l.url, l.request, l.folder, l.name, l.attempts, extract(epoch FROM l.first_leased)::float8
            FROM leased l ORDER BY l.id;
        END $$;

        -- Lengthens the lease of a worker. Returns false if the worker has been ended, because its lease was over.
        CREATE FUNCTION dlm.heartbeat(worker_id bigint) RETURNS boolean
        LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            WITH beat AS (UPDATE dlm.worker w SET until = clock_timestamp() + w.lease WHERE w.id = $1 RETURNING 1)
            SELECT EXISTS (SELECT FROM beat)
        $$;

        -- Whether anything is queued or leased.
        CREATE FUNCTION dlm.has_work() RETURNS boolean
        LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            SELECT EXISTS (SELECT FROM dlm.slot) OR EXISTS (SELECT FROM dlm.host h WHERE h.queued > 0)
        $$;

        CREATE FUNCTION dlm.documents(ids int[]) RETURNS TABLE (id int, document text)
        LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
            SELECT r.id, r.document FROM dlm.request r WHERE r.id = ANY ($1)
        $$;
        """
}
