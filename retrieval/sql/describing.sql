-- A part of find.sql: the memories that a search may return, with what it filters and sorts by.
--
-- in:  tenant uuid; shelves text[]; and or NULL, of which all must hold: note_types text[],
--      source_ids text[], conversation_id uuid (the agent's id), user_ids text[], agent_id,
--      category, tag, emotion_valence text, min_importance float, since and until timestamptz
--      (both included)
--      past bool (facts are those of `known`, else the active ones), as_of and known_at
--      timestamptz or NULL (notes and episodes that there were at these moments)
-- out: id uuid, kind text, source_type text, importance float 0 to 1, at timestamptz
-- index: where {only} names the memory the primary keys, and those on evidence's fact_id; else
--      the one on conversation, or the tenant's rows
-- Closed facts and deleted notes are none. A fact and an episode have their conversation, by the
-- agent's id, as source, and its user; whoever calls leaves out shelves that have no category or
-- feeling. A note that names no user has its conversation's.
-- A fact that one episode supports counts 0.5, each further one 0.1 more, up to 0.9.
WITH
SELECT memory.id, 'note'::text AS kind, memory.source_type::text AS source_type,
    memory.importance, dated.at
FROM notes_note AS memory
CROSS JOIN LATERAL (
    SELECT coalesce(
        CASE memory.source_type
            WHEN 'thread_summary' THEN (memory.metadata ->> 'last_activity_at')::timestamptz
        END, memory.occurred_at
    ) AS at
) AS dated
WHERE memory.tenant_id = %(tenant)s AND memory.deleted_at IS NULL AND {only}
    AND 'note' = ANY(%(shelves)s::text[])
    AND (%(known_at)s::timestamptz IS NULL OR memory.updated_at <= %(known_at)s::timestamptz)
    AND (%(as_of)s::timestamptz IS NULL OR memory.occurred_at <= %(as_of)s::timestamptz)
    AND (%(note_types)s::text[] IS NULL OR memory.source_type = ANY(%(note_types)s::text[]))
    AND (%(source_ids)s::text[] IS NULL OR memory.source_id = ANY(%(source_ids)s::text[]))
    AND (%(conversation_id)s::uuid IS NULL OR memory.conversation_id = (SELECT id FROM home))
    AND (%(user_ids)s::text[] IS NULL OR memory.user_id = ANY(%(user_ids)s::text[])
        OR memory.user_id = '' AND memory.conversation_id IN (SELECT id FROM of_users))
    AND (%(agent_id)s::text IS NULL OR memory.conversation_id IN (SELECT id FROM of_agent))
    AND (%(category)s::text IS NULL OR memory.category = %(category)s::text)
    AND (%(tag)s::text IS NULL OR memory.tags @> ARRAY[%(tag)s::text])
    AND (%(emotion_valence)s::text IS NULL OR memory.emotion_valence = %(emotion_valence)s::text)
    AND (%(min_importance)s::float8 IS NULL OR memory.importance >= %(min_importance)s::float8)
    AND (%(since)s::timestamptz IS NULL OR dated.at >= %(since)s::timestamptz)
    AND (%(until)s::timestamptz IS NULL OR dated.at <= %(until)s::timestamptz)
UNION ALL
SELECT memory.id, 'fact', 'fact', weight.importance, memory.valid_at
FROM semantic_fact AS memory
CROSS JOIN LATERAL (
    SELECT 0.5 + 0.1 * least(greatest(count(*) - 1, 0), 4)::float8 AS importance
    FROM semantic_evidence AS evidence
    WHERE evidence.fact_id = memory.id AND evidence.tenant_id = %(tenant)s
        AND evidence.withdrawn_by_id IS NULL
) AS weight
WHERE memory.tenant_id = %(tenant)s AND {only}
    AND CASE WHEN %(past)s THEN memory.id IN (SELECT id FROM known)
        ELSE memory.invalid_at IS NULL END
    AND 'fact' = ANY(%(shelves)s::text[])
    AND (%(source_ids)s::text[] IS NULL OR memory.conversation_id = ANY((SELECT array_agg(id) FROM named)::uuid[]))
    AND (%(conversation_id)s::uuid IS NULL OR memory.conversation_id = (SELECT id FROM home))
    AND (%(user_ids)s::text[] IS NULL OR memory.conversation_id = ANY((SELECT array_agg(id) FROM of_users)::uuid[]))
    AND (%(agent_id)s::text IS NULL OR memory.conversation_id = ANY((SELECT array_agg(id) FROM of_agent)::uuid[]))
    AND (%(category)s::text IS NULL OR memory.category = %(category)s::text)
    AND (%(min_importance)s::float8 IS NULL OR weight.importance >= %(min_importance)s::float8)
    AND (%(since)s::timestamptz IS NULL OR memory.valid_at >= %(since)s::timestamptz)
    AND (%(until)s::timestamptz IS NULL OR memory.valid_at <= %(until)s::timestamptz)
UNION ALL
SELECT memory.id, 'episode', 'episode', memory.surprise, memory.end_at
FROM episodic_episode AS memory
WHERE memory.tenant_id = %(tenant)s AND memory.withheld_by_id IS NULL AND {only}
    AND 'episode' = ANY(%(shelves)s::text[])
    AND (%(known_at)s::timestamptz IS NULL OR memory.created_at <= %(known_at)s::timestamptz)
    AND (%(as_of)s::timestamptz IS NULL OR memory.start_at <= %(as_of)s::timestamptz)
    AND (%(source_ids)s::text[] IS NULL OR memory.conversation_id = ANY((SELECT array_agg(id) FROM named)::uuid[]))
    AND (%(conversation_id)s::uuid IS NULL OR memory.conversation_id = (SELECT id FROM home))
    AND (%(user_ids)s::text[] IS NULL OR memory.conversation_id = ANY((SELECT array_agg(id) FROM of_users)::uuid[]))
    AND (%(agent_id)s::text IS NULL OR memory.conversation_id = ANY((SELECT array_agg(id) FROM of_agent)::uuid[]))
    AND (%(min_importance)s::float8 IS NULL OR memory.surprise >= %(min_importance)s::float8)
    AND (%(since)s::timestamptz IS NULL OR memory.end_at >= %(since)s::timestamptz)
    AND (%(until)s::timestamptz IS NULL OR memory.end_at <= %(until)s::timestamptz)
