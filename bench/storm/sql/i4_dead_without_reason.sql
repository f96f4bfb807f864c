-- I4: dead jobs that do not say of what.
--
-- in:  nothing
-- out: text, one row a job
SELECT format('%s %s', kind, id)
FROM jobs_job
WHERE state = 'dead' AND error_class = ''
