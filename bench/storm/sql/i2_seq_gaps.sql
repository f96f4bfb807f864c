-- I2: conversations whose messages are not numbered 1, 2, 3, … up to the last one given.
--
-- in:  nothing
-- out: text, one row a conversation
SELECT format('%s: %s messages from %s to %s, next %s',
    c.id, count(m.id), min(m.seq), max(m.seq), c.next_seq)
FROM episodic_conversation c
LEFT JOIN episodic_message m ON m.conversation_id = c.id
GROUP BY c.id, c.next_seq
HAVING count(m.id) <> c.next_seq - 1 OR count(DISTINCT m.seq) <> count(m.id)
    OR coalesce(min(m.seq), 1) <> 1 OR coalesce(max(m.seq), 0) <> c.next_seq - 1
