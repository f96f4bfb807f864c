-- I3: consolidations that no episode was marked by: they wrote facts for nothing, or twice.
--
-- in:  nothing
-- out: text, one row a changeset
SELECT format('changeset %s', s.id)
FROM semantic_changeset s
WHERE s.kind = 'consolidation' AND NOT EXISTS (
    SELECT FROM episodic_episode e
    WHERE e.conversation_id = s.conversation_id AND e.consolidated_at = s.started_at
)
