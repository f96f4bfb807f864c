-- I1: messages that are in an episode and quarantined at once.
--
-- in:  nothing
-- out: text, one row a message
SELECT format('message %s of %s', m.seq, m.conversation_id)
FROM episodic_message m
WHERE m.episode_id IS NOT NULL AND m.quarantined_by_id IS NOT NULL
