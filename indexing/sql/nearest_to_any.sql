-- What is still believed and lies nearest to any unit of some memories, nearest first.
--
-- in:  tenant uuid, owners and conversations uuid[], shelf text, model text, dim int, memories
--      uuid[] (their units are what is near), at_most int
-- out: memory_id uuid, cosine float (to the nearest of those units)
-- index: indexing_vector_of_owner; for wide vectors indexing_vector_wide_of_owner
SELECT near.memory_id, max(-(near.embedding <#> unit.embedding)) AS cosine
FROM indexing_searchvector AS near
CROSS JOIN (
    SELECT embedding FROM indexing_searchvector
    WHERE tenant_id = %(tenant)s AND memory_id = ANY(%(memories)s) AND model = %(model)s
        AND dim = %(dim)s
) AS unit
WHERE near.tenant_id = %(tenant)s
    AND CASE WHEN near.user_scope IS NULL THEN near.conversation_id
        ELSE near.user_scope END = ANY(%(owners)s::uuid[])
    AND near.conversation_id = ANY(%(conversations)s::uuid[])
    AND near.shelf = %(shelf)s AND near.model = %(model)s AND near.dim = %(dim)s
    AND near.invalid_at IS NULL
GROUP BY near.memory_id
ORDER BY cosine DESC, near.memory_id
LIMIT %(at_most)s
