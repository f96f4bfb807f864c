-- The job whose turn it is, locked: of the tenant after the one that was served last, the one due first.
--
-- in:  cap int (0: none), full_tenants uuid[]; {may_be_claimed} and {only} are conditions on jobs_job
-- out: id uuid; no row where nothing can be claimed
-- index: jobs_job_turn, or with `{only}` jobs_job_interactive; jobs_job_by_start; jobs_job_one_running
-- The walk goes from tenant to tenant by one probe each, twice round at most, and stops at the
-- first that has work: how many jobs a tenant has waiting does not matter. The rows of a
-- recursion come in its order, and ORDER BY would lock a job of each tenant.
-- Two that are claimed at one moment do not see each other run.
WITH RECURSIVE walk AS (
    SELECT 0 AS step, 0 AS lap, COALESCE(
        (SELECT tenant_id FROM jobs_job WHERE started_at IS NOT NULL
            ORDER BY started_at DESC LIMIT 1),
        '00000000-0000-0000-0000-000000000000'
    ) AS tenant_id
    UNION ALL
    SELECT walk.step + 1, following.lap, following.tenant_id
    FROM walk, LATERAL (
        (SELECT walk.lap, jobs_job.tenant_id FROM jobs_job
            WHERE jobs_job.state IN ('ready', 'running') {only}
                AND jobs_job.tenant_id > walk.tenant_id
            ORDER BY jobs_job.tenant_id LIMIT 1)
        UNION ALL
        (SELECT 1, jobs_job.tenant_id FROM jobs_job
            WHERE jobs_job.state IN ('ready', 'running') {only} AND walk.lap = 0
            ORDER BY jobs_job.tenant_id LIMIT 1)
        ORDER BY lap LIMIT 1
    ) following
)
SELECT chosen.id
FROM walk, LATERAL (
    SELECT jobs_job.id FROM jobs_job
    WHERE jobs_job.tenant_id = walk.tenant_id AND {may_be_claimed} {only}
    ORDER BY COALESCE(jobs_job.lease_until, jobs_job.run_after), jobs_job.id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
) chosen
WHERE walk.step > 0 AND walk.tenant_id <> ALL(%(full_tenants)s) AND (
    %(cap)s = 0
    OR %(cap)s > (
        SELECT count(*) FROM jobs_job held
        WHERE held.state = 'running' AND held.tenant_id = walk.tenant_id
            AND held.error_class = '' AND held.lease_until > statement_timestamp()
    )
)
LIMIT 1
