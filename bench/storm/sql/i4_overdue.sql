-- I4: jobs that run past their lease by more than a minute.
--
-- in:  nothing
-- out: text, one row a job
SELECT format('%s %s: %s late', kind, id, clock_timestamp() - lease_until)
FROM jobs_job
WHERE state = 'running' AND lease_until < clock_timestamp() - interval '60 seconds'
