-- The memories around one or several, breadth first: a row of the recursion is a whole level.
--
-- in:  tenant uuid, starts uuid[], depth int, at_most int (memories beside the starts),
--      types text[], fan int: at_most + 1 and one more for each start, so that what a hub is
--      cut to fills the room even where all that was seen before is among it
-- out: depth int from 1, id uuid, kind text, via uuid: the nearer end of the edge that led there,
--      link_type text, outward bool: the edge points from `via` to `id`, cut bool: there are more
--      within the depth; nearest first, then newest
-- index: those of edges.sql, indexing_memory_pkey
-- `ids` are the level's memories, `seen` all up to it. Arrays, because a recursion sees only the
-- rows of its last step, and may aggregate them only inside a lateral subquery. A level that does
-- not fit is the last; after one that just fits, an empty one says whether there was more.
WITH RECURSIVE walk AS (
    SELECT 0 AS depth, array_agg(memory.id) AS ids, array_agg(memory.kind::text) AS kinds,
        NULL::uuid[] AS vias, NULL::text[] AS link_types, NULL::bool[] AS outwards,
        array_agg(memory.id) AS seen, FALSE AS cut
    FROM indexing_memory AS memory
    WHERE memory.tenant_id = %(tenant)s AND memory.id = ANY(%(starts)s::uuid[])
    HAVING count(*) > 0
    UNION ALL
    SELECT walk.depth + 1, level.ids[:space.room], level.kinds[:space.room],
        level.vias[:space.room], level.link_types[:space.room], level.outwards[:space.room],
        walk.seen || level.ids[:space.room], cardinality(level.ids) > space.room
    FROM walk
    CROSS JOIN LATERAL (
        SELECT %(at_most)s + cardinality(%(starts)s::uuid[]) - cardinality(walk.seen) AS room
    ) AS space
    CROSS JOIN LATERAL (
        SELECT array_agg(found.id ORDER BY found.id DESC) AS ids,
            array_agg(found.kind ORDER BY found.id DESC) AS kinds,
            array_agg(found.via ORDER BY found.id DESC) AS vias,
            array_agg(found.link_type ORDER BY found.id DESC) AS link_types,
            array_agg(found.outward ORDER BY found.id DESC) AS outwards
        FROM (
            SELECT once.other AS id, memory.kind, once.via, once.link_type, once.outward
            FROM (
                SELECT DISTINCT ON (edge.other)
                    edge.other, near.id AS via, edge.link_type, edge.outward
                FROM unnest(walk.ids, walk.kinds) AS near (id, kind)
                CROSS JOIN LATERAL ({edges}) AS edge
                WHERE NOT EXISTS (
                    SELECT FROM unnest(walk.seen) AS seen (id) WHERE seen.id = edge.other
                )
                ORDER BY edge.other DESC, near.id DESC, edge.link_type, edge.outward DESC
            ) AS once
            CROSS JOIN LATERAL (
                SELECT registered.kind::text AS kind
                FROM indexing_memory AS registered
                WHERE registered.tenant_id = %(tenant)s AND registered.id = once.other
                LIMIT 1
            ) AS memory
            ORDER BY once.other DESC
            LIMIT space.room + 1
        ) AS found
    ) AS level
    WHERE walk.depth < %(depth)s AND NOT walk.cut AND level.ids IS NOT NULL
)
SELECT node.id, node.kind, walk.depth, node.via, node.link_type, node.outward,
    (SELECT bool_or(cut) FROM walk) AS cut
FROM walk
CROSS JOIN LATERAL unnest(walk.ids, walk.kinds, walk.vias, walk.link_types, walk.outwards)
    WITH ORDINALITY AS node (id, kind, via, link_type, outward, place)
WHERE walk.depth > 0
ORDER BY walk.depth, node.place
