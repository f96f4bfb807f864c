-- I3: episodes that more than one consolidation drew evidence from.
--
-- in:  nothing
-- out: text, one row an episode
SELECT format('episode %s by %s changesets', v.episode_id, count(DISTINCT v.changeset_id))
FROM semantic_evidence v
JOIN semantic_changeset s ON s.id = v.changeset_id AND s.kind = 'consolidation'
GROUP BY v.episode_id
HAVING count(DISTINCT v.changeset_id) > 1
