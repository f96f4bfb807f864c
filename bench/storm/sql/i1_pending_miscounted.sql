-- I1: conversations whose count of the window is not that of its messages.
--
-- in:  nothing
-- out: text, one row a conversation
SELECT format('%s: %s counted, %s there', c.id, c.pending_count, count(m.id))
FROM episodic_conversation c
LEFT JOIN episodic_message m
    ON m.conversation_id = c.id AND m.episode_id IS NULL AND m.quarantined_by_id IS NULL
GROUP BY c.id, c.pending_count
HAVING c.pending_count <> count(m.id)
