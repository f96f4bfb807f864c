-- Where all messages stand, and how the jobs ended.
--
-- in:  nothing
-- out: messages, in the window, in an episode that exists, quarantined; dead jobs, done jobs,
--      jobs that are open, episodes whose consolidation failed, degraded episodes, episodes,
--      facts, reviews: bigint
SELECT
    (SELECT count(*) FROM episodic_message),
    (SELECT count(*) FROM episodic_message WHERE episode_id IS NULL AND quarantined_by_id IS NULL),
    (SELECT count(*) FROM episodic_message m JOIN episodic_episode e ON e.id = m.episode_id),
    (SELECT count(*) FROM episodic_message WHERE quarantined_by_id IS NOT NULL),
    (SELECT count(*) FROM jobs_job WHERE state = 'dead'),
    (SELECT count(*) FROM jobs_job WHERE state = 'done'),
    (SELECT count(*) FROM jobs_job WHERE state IN ('ready', 'running')),
    (SELECT count(*) FROM episodic_episode WHERE consolidation_failed_at IS NOT NULL),
    (SELECT count(*) FROM episodic_episode WHERE degraded),
    (SELECT count(*) FROM episodic_episode),
    (SELECT count(*) FROM semantic_fact),
    (SELECT count(*) FROM episodic_review)
