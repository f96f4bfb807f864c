-- I1: messages that left the window for an episode that does not exist.
--
-- in:  nothing
-- out: text, one row a message
SELECT format('message %s of %s', m.seq, m.conversation_id)
FROM episodic_message m
LEFT JOIN episodic_episode e ON e.id = m.episode_id AND e.conversation_id = m.conversation_id
WHERE m.episode_id IS NOT NULL AND e.id IS NULL
