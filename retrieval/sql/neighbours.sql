-- What each of some memories is linked with directly, stored and derived, both ways, newest first.
--
-- in:  tenant uuid, memories uuid[], types text[], fan int: edges of one type and direction at most
-- out: memory uuid, other uuid: each pair once
-- index: those of edges.sql, indexing_memory_pkey
SELECT DISTINCT near.id, edge.other
FROM indexing_memory AS near
CROSS JOIN LATERAL ({edges}) AS edge
-- With a limit it is a look-up for each; as EXISTS it was compared with all memories.
CROSS JOIN LATERAL (
    SELECT FROM indexing_memory AS other
    WHERE other.tenant_id = %(tenant)s AND other.id = edge.other
    LIMIT 1
) AS registered
WHERE near.tenant_id = %(tenant)s AND near.id = ANY(%(memories)s::uuid[])
ORDER BY near.id, edge.other DESC
