-- I2: conversations whose messages are not numbered 1, 2, 3, … up to the last one given.
--
-- Of those that were erased nothing but the number of the next message is left.
--
-- in:  nothing
-- out: text, one row a conversation
SELECT format('%s: %s messages from %s to %s, next %s',
    c.id, count(m.id), min(m.seq), max(m.seq), c.next_seq)
FROM episodic_conversation c
LEFT JOIN episodic_message m ON m.conversation_id = c.id
WHERE NOT EXISTS (
    SELECT FROM erasure_erasure e
    WHERE e.tenant_id = c.tenant_id AND e.target = c.id AND e.scope = 'conversation'
)
GROUP BY c.id, c.next_seq
HAVING count(m.id) <> c.next_seq - 1 OR count(DISTINCT m.seq) <> count(m.id)
    OR coalesce(min(m.seq), 1) <> 1 OR coalesce(max(m.seq), 0) <> c.next_seq - 1
