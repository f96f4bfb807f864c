-- I3: consolidation jobs with more than one changeset: such a job does one batch.
--
-- in:  nothing
-- out: text, one row a job
SELECT format('job %s: %s changesets', j.id, count(*))
FROM jobs_job j
JOIN semantic_changeset s ON s.job_id = j.id
WHERE j.kind = 'consolidate'
GROUP BY j.id
HAVING count(*) > 1
