-- Adds what a process has counted to the rows of the keys, one a key and day.
--
-- in:  rows, jsonb: the columns of the rows
-- out: nothing
-- index: tenancy_keyusage_one_a_day
-- Of failures the new address counts; a number without one was stored by an earlier version.
-- Keys that were erased meanwhile are left out; the order keeps two processes from a deadlock.
INSERT INTO tenancy_keyusage AS usage (
    id, tenant_id, key_id, day, calls, errors, refused, faults, bytes_in, bytes_out, latencies,
    failures
)
SELECT
    more.id, more.tenant_id, more.key_id, more.day, more.calls, more.errors, more.refused,
    more.faults, more.bytes_in, more.bytes_out, more.latencies, more.failures
FROM jsonb_to_recordset(%(rows)s::jsonb) AS more (
    id uuid, tenant_id uuid, key_id uuid, day date, calls bigint, errors bigint, refused bigint,
    faults bigint, bytes_in bigint, bytes_out bigint, latencies bigint[],
    failures jsonb
)
INNER JOIN tenancy_apikey AS key ON key.tenant_id = more.tenant_id AND key.id = more.key_id
ORDER BY more.tenant_id, more.key_id, more.day
ON CONFLICT (tenant_id, key_id, day) DO UPDATE SET
    calls = usage.calls + excluded.calls,
    errors = usage.errors + excluded.errors,
    refused = usage.refused + excluded.refused,
    faults = usage.faults + excluded.faults,
    bytes_in = usage.bytes_in + excluded.bytes_in,
    bytes_out = usage.bytes_out + excluded.bytes_out,
    latencies = ARRAY(
        SELECT had + came
        FROM unnest(usage.latencies, excluded.latencies) WITH ORDINALITY AS both_ (had, came, place)
        ORDER BY place
    ),
    failures = (
        SELECT jsonb_object_agg(what, jsonb_build_array(total, caller))
        FROM (
            SELECT
                what,
                sum(coalesce(value ->> 0, value #>> '{}')::bigint) AS total,
                (array_agg(value ->> 1 ORDER BY is_new DESC))[1] AS caller
            FROM (
                SELECT *, false FROM jsonb_each(usage.failures)
                UNION ALL
                SELECT *, true FROM jsonb_each(excluded.failures)
            ) AS counted (what, value, is_new)
            GROUP BY what
            ORDER BY total DESC, what
            LIMIT 20
        ) AS most
    )
