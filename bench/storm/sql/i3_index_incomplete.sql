-- I3: episodes and facts that are not in the index just once, an episode with each message.
--
-- in:  nothing
-- out: text, one row a memory
SELECT format('episode %s: %s headlines, %s units for %s messages', e.id,
    found.headlines, found.messages, own.messages)
FROM episodic_episode e
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE kind = 'episode') AS headlines,
        count(*) FILTER (WHERE kind = 'message') AS messages,
        count(DISTINCT first_seq) FILTER (WHERE kind = 'message') AS seqs
    FROM indexing_searchunit u WHERE u.memory_id = e.id
) found
CROSS JOIN LATERAL (
    SELECT count(*) AS messages FROM episodic_message m WHERE m.episode_id = e.id
) own
WHERE found.headlines <> 1 OR found.messages <> own.messages OR found.seqs <> own.messages
UNION ALL
SELECT format('fact %s: %s units', f.id, count(u.id))
FROM semantic_fact f
LEFT JOIN indexing_searchunit u ON u.memory_id = f.id
GROUP BY f.id
HAVING count(u.id) <> 1
