extension QueueSchema {
    static let ending = """
        -- Takes items out of the slots of a worker, one item for each entry of hosts. Deletes the slots without items.
        CREATE FUNCTION dlm.leave_hosts(worker_id bigint, hosts int[]) RETURNS void
        \(indexed) AS $$
        DECLARE
            gone int[];
        BEGIN
            UPDATE dlm.slot s SET leased = s.leased - c.n
            FROM (SELECT u.id, count(*) AS n FROM unnest(hosts) u(id) GROUP BY u.id) c
            WHERE s.host = c.id AND s.worker = worker_id;
            WITH ended AS (
                DELETE FROM dlm.slot s WHERE s.worker = worker_id AND s.leased <= 0 RETURNING s.host)
            SELECT array_agg(e.host) INTO gone FROM ended e;
            IF gone IS NULL THEN RETURN; END IF;
            PERFORM 1 FROM dlm.host h WHERE h.id = ANY (gone) ORDER BY h.id FOR NO KEY UPDATE;
            UPDATE dlm.host h SET workers = h.workers - 1 WHERE h.id = ANY (gone);
        END $$;

        -- Records how items ended. Returns the items whose end is recorded, by this call or by an earlier call of the
        -- same worker. The other items are no longer leased by this worker.
        CREATE FUNCTION dlm.report(
            worker_id bigint, ids bigint[], states smallint[], sizes bigint[], errors text[], results text[])
        RETURNS SETOF bigint
        \(indexed) AS $$
        DECLARE
            now_ended bigint[];
            hosts int[];
        BEGIN
            PERFORM 1 FROM dlm.worker w WHERE w.id = worker_id FOR NO KEY UPDATE;
            WITH given AS (SELECT * FROM unnest(ids, states, sizes, errors, results) g(id, state, size, error, result)),
            ended AS (
                UPDATE dlm.item i SET state = g.state, bytes = g.size, error = g.error, result = g.result,
                    ended = clock_timestamp(), change = pg_current_xact_id()
                FROM given g WHERE i.id = g.id AND i.worker = worker_id AND i.state = 1 AND g.state BETWEEN 2 AND 4
                RETURNING i.id, i.host)
            SELECT array_agg(e.id), array_agg(e.host) INTO now_ended, hosts FROM ended e;
            IF hosts IS NOT NULL THEN PERFORM dlm.leave_hosts(worker_id, hosts); END IF;
            RETURN QUERY SELECT i.id FROM unnest(ids) g(id) JOIN dlm.item i ON i.id = g.id
                WHERE i.worker = worker_id AND i.state >= 2;
        END $$;

        -- Puts the items that a worker has leased back into the queue, except those in keep. Returns the number of
        -- items that were put back.
        CREATE FUNCTION dlm.give_back(worker_id bigint, keep bigint[]) RETURNS bigint
        \(indexed) AS $$
        DECLARE
            hosts int[];
        BEGIN
            PERFORM 1 FROM dlm.worker w WHERE w.id = worker_id FOR NO KEY UPDATE;
            WITH back AS (
                UPDATE dlm.item i SET state = 0, worker = NULL
                WHERE i.worker = worker_id AND i.state = 1 AND i.id <> ALL (keep) RETURNING i.host)
            SELECT array_agg(b.host) INTO hosts FROM back b;
            IF hosts IS NOT NULL THEN
                PERFORM dlm.count_queued(hosts);
                PERFORM dlm.leave_hosts(worker_id, hosts);
            END IF;
            -- Slots remain if somebody has deleted leased items. They are deleted here.
            IF NOT EXISTS (SELECT FROM dlm.item i WHERE i.worker = worker_id AND i.state = 1) THEN
                PERFORM 1 FROM dlm.host h WHERE h.id IN (SELECT s.host FROM dlm.slot s WHERE s.worker = worker_id)
                ORDER BY h.id FOR NO KEY UPDATE;
                WITH gone AS (DELETE FROM dlm.slot s WHERE s.worker = worker_id RETURNING s.host)
                UPDATE dlm.host h SET workers = h.workers - 1 FROM gone g WHERE h.id = g.host;
            END IF;
            RETURN coalesce(cardinality(hosts), 0);
        END $$;

        CREATE FUNCTION dlm.end_worker(worker_id bigint) RETURNS bigint
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE
            back bigint;
        BEGIN
            PERFORM 1 FROM dlm.worker w WHERE w.id = worker_id FOR UPDATE;
            back := dlm.give_back(worker_id, '{}');
            DELETE FROM dlm.worker w WHERE w.id = worker_id;
            RETURN back;
        END $$;

        -- Ends one worker whose lease is over. After a start of the server, each worker gets one more lease, because no
        -- worker could reach the server before. Only one worker is ended, so that this transaction locks the hosts of
        -- only one worker, in the order of their ids.
        CREATE FUNCTION dlm.end_dead_worker() RETURNS boolean
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE
            dead bigint;
        BEGIN
            SELECT w.id INTO dead FROM dlm.worker w WHERE w.until < clock_timestamp()
            AND pg_postmaster_start_time() + w.lease < clock_timestamp()
            ORDER BY w.id LIMIT 1 FOR UPDATE SKIP LOCKED;
            IF dead IS NULL THEN RETURN false; END IF;
            PERFORM dlm.end_worker(dead);
            RETURN true;
        END $$;
        """

    static let control = """
        -- Puts failed items back into the queue: those in ids, or all if ids is NULL. Items that failed for good are
        -- put back only with `all_failed`. Returns the number of items that were put back.
        CREATE FUNCTION dlm.retry(all_failed boolean, ids bigint[]) RETURNS bigint
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE
            hosts int[];
        BEGIN
            PERFORM pg_advisory_xact_lock(\(addingLock));
            WITH back AS (
                UPDATE dlm.item i SET state = 0, worker = NULL, bytes = NULL, ended = NULL, change = NULL,
                    error = NULL, result = NULL
                WHERE i.state BETWEEN 3 AND CASE WHEN all_failed THEN 4 ELSE 3 END
                AND i.state >= 3 AND (ids IS NULL OR i.id = ANY (ids)) RETURNING i.host)
            SELECT array_agg(b.host) INTO hosts FROM back b;
            IF hosts IS NULL THEN RETURN 0; END IF;
            PERFORM dlm.count_queued(hosts);
            RETURN cardinality(hosts);
        END $$;

        -- Pauses or resumes a host, or the queue if host_name is NULL. Returns false if there is no such host.
        CREATE FUNCTION dlm.pause(host_name text, pauses boolean) RETURNS boolean
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            IF host_name IS NULL THEN
                UPDATE dlm.queue SET is_paused = pauses;
            ELSE
                UPDATE dlm.host h SET is_paused = pauses WHERE h.name = host_name;
            END IF;
            RETURN FOUND;
        END $$;

        -- Counts everything anew, after items were changed by other means or the database was restored. Call recount()
        -- while no worker runs.
        CREATE FUNCTION dlm.recount() RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            LOCK TABLE dlm.worker, dlm.item, dlm.slot, dlm.host IN SHARE ROW EXCLUSIVE MODE;
            UPDATE dlm.item i SET state = 0, worker = NULL
            WHERE i.state = 1 AND NOT EXISTS (SELECT FROM dlm.worker w WHERE w.id = i.worker);
            DELETE FROM dlm.slot;
            INSERT INTO dlm.slot (host, worker, leased)
            SELECT i.host, i.worker, count(*) FROM dlm.item i WHERE i.state = 1 GROUP BY i.host, i.worker;
            -- After a restore into another cluster, transactions of the past can have larger numbers than new ones.
            UPDATE dlm.item i SET change = pg_current_xact_id() WHERE i.change > pg_current_xact_id();
            UPDATE dlm.host h SET
                queued = (SELECT count(*) FROM dlm.item i WHERE i.host = h.id AND i.state = 0),
                workers = (SELECT count(*) FROM dlm.slot s WHERE s.host = h.id);
        END $$;

        -- Only the owner may call a function without a GRANT (docs/postgres.md). Functions that only other functions
        -- call need no GRANT.
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA dlm FROM PUBLIC;
        INSERT INTO dlm.version VALUES (1);
        """
}
