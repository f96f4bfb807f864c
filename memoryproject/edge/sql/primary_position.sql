-- Where the primary's log is, when, on which timeline, and what must be seen of it.
--
-- in:  since, an expression for the position that must be seen, with parameters of its own
-- out: position bigint, in bytes of the log; now timestamptz; timeline int; since bigint or NULL
-- index: none
-- The timeline tells a log from one that was left at a failover.
SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint, clock_timestamp(),
    ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int, {since}
