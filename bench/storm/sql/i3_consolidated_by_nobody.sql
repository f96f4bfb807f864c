-- I3: consolidated episodes that no changeset of that very moment accounts for.
--
-- in:  nothing
-- out: text, one row an episode
SELECT format('episode %s', e.id)
FROM episodic_episode e
WHERE e.consolidated_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM semantic_changeset s
    WHERE s.conversation_id = e.conversation_id AND s.kind = 'consolidation'
        AND s.started_at = e.consolidated_at
)
