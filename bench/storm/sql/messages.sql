-- Every message stored by the writers, as a client may know it.
--
-- in:  nothing
-- out: id uuid, conversation uuid (the client's), key text, index int, seq bigint, content text
SELECT m.id, c.external_id, m.client_key, m.client_index, m.seq, m.content
FROM episodic_message m
JOIN episodic_conversation c ON c.id = m.conversation_id
WHERE m.client_key NOT LIKE 'heavy-%'
