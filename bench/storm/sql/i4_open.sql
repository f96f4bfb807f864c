-- I4: jobs that are open after everything had time to end.
--
-- in:  nothing
-- out: text, one row a job
SELECT format('%s %s is %s, attempts %s, failures %s, %s; due %s', kind, id, state, attempts,
    transient_failures, coalesce(nullif(error_class, ''), 'no error'),
    date_trunc('second', coalesce(lease_until, run_after) - clock_timestamp()))
FROM jobs_job
WHERE state IN ('ready', 'running')
