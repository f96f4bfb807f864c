-- I3: episodes that no facts were drawn from, and that nobody has set aside.
--
-- in:  nothing
-- out: text, one row an episode
SELECT format('episode %s', e.id)
FROM episodic_episode e
WHERE e.consolidated_at IS NULL AND e.consolidation_failed_at IS NULL
