-- How far a replica has come.
--
-- in:  nothing
-- out: is_replica bool; position bigint, in bytes of the log, NULL where it is no replica;
--      committed_at timestamptz of the last transaction, NULL: none yet; timeline int
-- index: none
SELECT pg_is_in_recovery(), (pg_last_wal_replay_lsn() - '0/0')::bigint,
    pg_last_xact_replay_timestamp(),
    greatest(c.timeline_id, r.min_recovery_end_timeline)
FROM pg_control_checkpoint() AS c, pg_control_recovery() AS r
