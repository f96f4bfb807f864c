-- The jobs that are open or ended in the last minute: one look at who holds what.
--
-- in:  nothing
-- out: id uuid, kind text, state text, token uuid or NULL, error text, started float or NULL,
--      lease_until float or NULL, now float (seconds since 1970, by the database's clock),
--      holder uuid or NULL, due bool (whether it is not to wait any longer)
SELECT id, kind, state, lease_token, error_class,
    extract(epoch FROM started_at)::float8,
    extract(epoch FROM lease_until)::float8,
    extract(epoch FROM clock_timestamp())::float8,
    holder,
    run_after <= clock_timestamp()
FROM jobs_job
WHERE state IN ('ready', 'running') OR finished_at > now() - interval '1 minute'
