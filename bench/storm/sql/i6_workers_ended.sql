-- I6: workers that a supervisor ended, although there were kills enough.
--
-- in:  nothing
-- out: text, one row a restart
SELECT format('%s: %s', at, reason) FROM jobs_workerrestart
