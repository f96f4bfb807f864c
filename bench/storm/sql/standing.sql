-- Where all messages stand, and how the jobs ended.
--
-- in:  nothing
-- out: messages; of these in the window, in_episodes that exist, quarantined; jobs dead, done and
--      open; episodes of failed_consolidations, degraded, all; facts; reviews: bigint
SELECT
    (SELECT count(*) FROM episodic_message) AS messages,
    (SELECT count(*) FROM episodic_message WHERE episode_id IS NULL AND quarantined_by_id IS NULL) AS "window",
    (SELECT count(*) FROM episodic_message m JOIN episodic_episode e ON e.id = m.episode_id) AS in_episodes,
    (SELECT count(*) FROM episodic_message WHERE quarantined_by_id IS NOT NULL) AS quarantined,
    (SELECT count(*) FROM jobs_job WHERE state = 'dead') AS dead,
    (SELECT count(*) FROM jobs_job WHERE state = 'done') AS done,
    (SELECT count(*) FROM jobs_job WHERE state IN ('ready', 'running')) AS open,
    (SELECT count(*) FROM episodic_episode WHERE consolidation_failed_at IS NOT NULL) AS failed_consolidations,
    (SELECT count(*) FROM episodic_episode WHERE degraded) AS degraded,
    (SELECT count(*) FROM episodic_episode) AS episodes,
    (SELECT count(*) FROM semantic_fact) AS facts,
    (SELECT count(*) FROM episodic_review) AS reviews
