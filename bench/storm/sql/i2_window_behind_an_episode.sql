-- I2: messages that were left in the window although later ones are in an episode.
--
-- in:  nothing
-- out: text, one row a message
SELECT format('message %s of %s', m.seq, m.conversation_id)
FROM episodic_message m
WHERE m.episode_id IS NULL AND m.quarantined_by_id IS NULL AND EXISTS (
    SELECT FROM episodic_episode e
    WHERE e.conversation_id = m.conversation_id AND e.first_seq > m.seq
)
