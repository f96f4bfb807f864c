-- How long each flush of one tenant took, from the call to the end of its job, the shortest first,
-- and how many runs that were.
--
-- in:  tenant text
-- out: seconds float, runs int
SELECT extract(epoch FROM job.finished_at - job.created_at)::float8, job.attempts
FROM jobs_job job JOIN tenancy_tenant tenant ON tenant.id = job.tenant_id
WHERE job.kind = 'flush' AND job.state = 'done' AND tenant.name = %s
ORDER BY 1
