-- A part of walk.sql and links.sql: the edges at one memory, stored and derived, both ways.
--
-- in:  near (id uuid, kind text): the memory; tenant uuid; types text[]: the link types that
--      count; fan int or NULL: edges of one type and direction at most, the newest others first
-- out: link_id uuid or NULL: derived; other uuid; link_type text; outward bool: from near to other
-- index: notes_link_once, notes_link_backwards, notes_note_deleted, those on evidence's fact_id
--      and episode_id, semantic_fact_pkey and the one on superseded_by_id,
--      episodic_episode_pkey, episodic_episode_in_order
-- The tenant is named for every row. Whether the other end is his, too, whoever takes an edge
-- asks of the registry: only a forged row would name a stranger's.
WITH
(
    SELECT {once_to} link.id AS link_id, link.to_memory_id AS other,
        link.link_type::text AS link_type, TRUE AS outward
    FROM notes_link AS link
    WHERE link.tenant_id = %(tenant)s AND link.from_memory_id = near.id
        AND link.link_type = ANY(%(types)s::text[])
        AND NOT EXISTS (
            SELECT FROM notes_note AS gone
            WHERE gone.id = link.to_memory_id AND gone.deleted_at IS NOT NULL
                AND gone.tenant_id = %(tenant)s
        )
    ORDER BY link.to_memory_id DESC, link.link_type DESC
    LIMIT %(fan)s
)
UNION ALL (
    SELECT {once_from} link.id, link.from_memory_id, link.link_type::text, FALSE
    FROM notes_link AS link
    WHERE link.tenant_id = %(tenant)s AND link.to_memory_id = near.id
        AND link.link_type = ANY(%(types)s::text[])
        AND NOT EXISTS (
            SELECT FROM notes_note AS gone
            WHERE gone.id = link.from_memory_id AND gone.deleted_at IS NOT NULL
                AND gone.tenant_id = %(tenant)s
        )
    ORDER BY link.from_memory_id DESC, link.link_type DESC
    LIMIT %(fan)s
)
UNION ALL (
    SELECT NULL, evidence.episode_id, 'derived_from', TRUE
    FROM semantic_evidence AS evidence
    WHERE near.kind = 'fact' AND 'derived_from' = ANY(%(types)s::text[])
        AND evidence.tenant_id = %(tenant)s AND evidence.fact_id = near.id
        AND evidence.withdrawn_by_id IS NULL
        AND NOT EXISTS (
            SELECT FROM episodic_episode AS apart
            WHERE apart.id = evidence.episode_id AND apart.withheld_by_id IS NOT NULL
                AND apart.tenant_id = %(tenant)s
        )
    ORDER BY evidence.episode_id DESC
    LIMIT %(fan)s
)
UNION ALL (
    SELECT NULL, evidence.fact_id, 'derived_from', FALSE
    FROM semantic_evidence AS evidence
    WHERE near.kind = 'episode' AND 'derived_from' = ANY(%(types)s::text[])
        AND evidence.tenant_id = %(tenant)s AND evidence.episode_id = near.id
        AND evidence.withdrawn_by_id IS NULL
        AND NOT EXISTS (
            SELECT FROM semantic_fact AS waiting
            WHERE waiting.id = evidence.fact_id AND waiting.invalidated_because IN ('waiting', 'forgotten')
                AND waiting.tenant_id = %(tenant)s
        )
    ORDER BY evidence.fact_id DESC
    LIMIT %(fan)s
)
UNION ALL (
    SELECT NULL, old.id, 'supersedes', TRUE
    FROM semantic_fact AS old
    WHERE near.kind = 'fact' AND 'supersedes' = ANY(%(types)s::text[])
        AND old.tenant_id = %(tenant)s AND old.superseded_by_id = near.id
    ORDER BY old.id DESC
    LIMIT %(fan)s
)
UNION ALL (
    SELECT NULL, old.superseded_by_id, 'supersedes', FALSE
    FROM semantic_fact AS old
    WHERE near.kind = 'fact' AND 'supersedes' = ANY(%(types)s::text[])
        AND old.tenant_id = %(tenant)s AND old.id = near.id AND old.superseded_by_id IS NOT NULL
)
UNION ALL (
    SELECT NULL, later.id, 'next', TRUE
    FROM episodic_episode AS here
    CROSS JOIN LATERAL (
        SELECT episode.id
        FROM episodic_episode AS episode
        WHERE episode.conversation_id = here.conversation_id
            AND episode.first_seq > here.first_seq AND episode.tenant_id = %(tenant)s
            AND episode.withheld_by_id IS NULL
        ORDER BY episode.first_seq
        LIMIT 1
    ) AS later
    WHERE near.kind = 'episode' AND 'next' = ANY(%(types)s::text[])
        AND here.tenant_id = %(tenant)s AND here.id = near.id
)
UNION ALL (
    SELECT NULL, earlier.id, 'next', FALSE
    FROM episodic_episode AS here
    CROSS JOIN LATERAL (
        SELECT episode.id
        FROM episodic_episode AS episode
        WHERE episode.conversation_id = here.conversation_id
            AND episode.first_seq < here.first_seq AND episode.tenant_id = %(tenant)s
            AND episode.withheld_by_id IS NULL
        ORDER BY episode.first_seq DESC
        LIMIT 1
    ) AS earlier
    WHERE near.kind = 'episode' AND 'next' = ANY(%(types)s::text[])
        AND here.tenant_id = %(tenant)s AND here.id = near.id
)
