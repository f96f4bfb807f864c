-- I4: conversations with a window, although each was flushed.
--
-- in:  nothing
-- out: text, one row a conversation
SELECT format('%s: %s messages', conversation_id, count(*))
FROM episodic_message
WHERE episode_id IS NULL AND quarantined_by_id IS NULL
GROUP BY conversation_id
