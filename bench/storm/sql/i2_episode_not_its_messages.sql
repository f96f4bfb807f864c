-- I2: episodes whose range is not just that of their messages.
--
-- in:  nothing
-- out: text, one row an episode
SELECT format('%s: %s to %s, %s of %s messages its own',
    e.id, e.first_seq, e.last_seq, count(m.id) FILTER (WHERE m.episode_id = e.id), count(m.id))
FROM episodic_episode e
LEFT JOIN episodic_message m
    ON m.conversation_id = e.conversation_id
    AND (m.episode_id = e.id OR m.seq BETWEEN e.first_seq AND e.last_seq)
GROUP BY e.id, e.first_seq, e.last_seq
HAVING count(m.id) <> e.last_seq - e.first_seq + 1
    OR count(m.id) FILTER (WHERE m.episode_id = e.id) = 0
    OR bool_or(m.episode_id IS DISTINCT FROM e.id)
    OR bool_or(m.seq NOT BETWEEN e.first_seq AND e.last_seq)
