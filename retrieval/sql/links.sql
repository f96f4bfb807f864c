-- The links of one memory, stored and derived, both ways: those to the newest memories first.
--
-- in:  tenant uuid, memory uuid, types text[], at_most int, fan NULL; after: id uuid, type text
--      and direction of the last link of the page before, or all NULL
-- out: link_id uuid or NULL: derived; other uuid, its kind; link_type text, outward bool: it points
--      away from the memory; made_by, `server` where derived; actor, created_at, NULL there
-- index: those of edges.sql, and the primary keys
WITH near AS (
    SELECT memory.id, memory.kind::text AS kind
    FROM indexing_memory AS memory
    WHERE memory.tenant_id = %(tenant)s AND memory.id = %(memory)s
),
page AS (
    SELECT edge.link_id, edge.other, memory.kind::text AS kind, edge.link_type, edge.outward
    FROM near
    CROSS JOIN LATERAL ({edges}) AS edge
    CROSS JOIN LATERAL (
        SELECT registered.kind
        FROM indexing_memory AS registered
        WHERE registered.tenant_id = %(tenant)s AND registered.id = edge.other
        LIMIT 1
    ) AS memory
    WHERE %(after_id)s::uuid IS NULL
        OR (edge.other, edge.link_type, edge.outward)
            < (%(after_id)s::uuid, %(after_type)s::text, %(after_outward)s::bool)
    ORDER BY edge.other DESC, edge.link_type DESC, edge.outward DESC
    LIMIT %(at_most)s
)
SELECT page.link_id, page.other, page.kind, page.link_type, page.outward,
    coalesce(link.made_by, 'server') AS made_by, link.actor, link.created_at
FROM page
LEFT JOIN notes_link AS link ON link.id = page.link_id AND link.tenant_id = %(tenant)s
ORDER BY page.other DESC, page.link_type DESC, page.outward DESC
