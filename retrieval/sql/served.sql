-- How often each memory was served, in how many conversations, and when last: hits up to a cap each.
--
-- in:  tenant uuid; ids uuid[]; at_most int
-- out: memory_id, times, conversations, last_at
-- index: retrieval_hit_by_memory; the primary key of retrieval_retrieval
SELECT wanted.memory_id, count(*), count(DISTINCT conversation_id), max(answer.created_at)
FROM unnest(%(ids)s::uuid[]) AS wanted (memory_id), LATERAL (
    SELECT retrieval_id FROM retrieval_retrievalhit AS hit
    WHERE hit.memory_id = wanted.memory_id AND tenant_id = %(tenant)s LIMIT %(at_most)s
) AS hit
JOIN retrieval_retrieval AS answer ON answer.id = retrieval_id AND answer.tenant_id = %(tenant)s
GROUP BY wanted.memory_id
