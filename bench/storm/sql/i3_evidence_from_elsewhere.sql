-- I3: evidence from another conversation, or from messages that are not in its episode.
--
-- in:  nothing
-- out: text, one row a piece of evidence
SELECT format('evidence %s', v.id)
FROM semantic_evidence v
JOIN semantic_fact f ON f.id = v.fact_id
LEFT JOIN episodic_episode e ON e.id = v.episode_id
WHERE e.id IS NULL OR e.conversation_id <> f.conversation_id OR e.tenant_id <> f.tenant_id
    OR EXISTS (
        SELECT FROM unnest(v.message_seqs) AS named(seq)
        WHERE named.seq NOT BETWEEN e.first_seq AND e.last_seq
    )
