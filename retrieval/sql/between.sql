-- The links among some memories, stored and derived: each once, in its own direction.
--
-- in:  tenant uuid, memories uuid[], types text[]: the link types that count
-- out: link_id uuid or NULL: derived; from uuid, to uuid; link_type text; made_by and actor, NULL
--      where derived; in order of the ends
-- index: indexing_memory_pkey, notes_note_deleted, notes_link_once, the unique ones on evidence's
--      fact and episode, semantic_fact_pkey, episodic_episode_in_order
-- Both ends are asked of the registry, so that a forged row shows nothing of a stranger's.
WITH shown AS MATERIALIZED (
    SELECT memory.id
    FROM indexing_memory AS memory
    WHERE memory.tenant_id = %(tenant)s AND memory.id = ANY(%(memories)s::uuid[])
        AND NOT EXISTS (
            SELECT FROM notes_note AS gone
            WHERE gone.id = memory.id AND gone.deleted_at IS NOT NULL
                AND gone.tenant_id = %(tenant)s
        )
),
edge AS (
    SELECT link.id AS link_id, link.from_memory_id AS start, link.to_memory_id AS goal,
        link.link_type::text AS link_type, link.made_by::text AS made_by, link.actor::text AS actor
    FROM notes_link AS link
    WHERE link.tenant_id = %(tenant)s AND link.from_memory_id = ANY(%(memories)s::uuid[])
        AND link.to_memory_id = ANY(%(memories)s::uuid[])
    UNION ALL
    SELECT NULL, evidence.fact_id, evidence.episode_id, 'derived_from', NULL, NULL
    FROM semantic_evidence AS evidence
    WHERE evidence.tenant_id = %(tenant)s AND evidence.fact_id = ANY(%(memories)s::uuid[])
        AND evidence.episode_id = ANY(%(memories)s::uuid[]) AND evidence.withdrawn_by_id IS NULL
    UNION ALL
    SELECT NULL, old.superseded_by_id, old.id, 'supersedes', NULL, NULL
    FROM semantic_fact AS old
    WHERE old.tenant_id = %(tenant)s AND old.id = ANY(%(memories)s::uuid[])
        AND old.superseded_by_id = ANY(%(memories)s::uuid[])
    UNION ALL
    SELECT NULL, here.id, later.id, 'next', NULL, NULL
    FROM episodic_episode AS here
    CROSS JOIN LATERAL (
        SELECT episode.id
        FROM episodic_episode AS episode
        WHERE episode.conversation_id = here.conversation_id
            AND episode.first_seq > here.first_seq AND episode.tenant_id = %(tenant)s
        ORDER BY episode.first_seq
        LIMIT 1
    ) AS later
    WHERE here.tenant_id = %(tenant)s AND here.id = ANY(%(memories)s::uuid[])
        AND later.id = ANY(%(memories)s::uuid[])
)
SELECT edge.link_id, edge.start, edge.goal, edge.link_type, edge.made_by, edge.actor
FROM edge
WHERE edge.link_type = ANY(%(types)s::text[])
    AND EXISTS (SELECT FROM shown WHERE shown.id = edge.start)
    AND EXISTS (SELECT FROM shown WHERE shown.id = edge.goal)
ORDER BY edge.start, edge.goal, edge.link_type
