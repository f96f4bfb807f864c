-- I1: quarantined messages whose job does not exist.
--
-- in:  nothing
-- out: text, one row a message
SELECT format('message %s of %s', m.seq, m.conversation_id)
FROM episodic_message m
LEFT JOIN jobs_job j ON j.id = m.quarantined_by_id
WHERE m.quarantined_by_id IS NOT NULL AND j.id IS NULL
