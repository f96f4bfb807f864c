-- What a profile is chosen from: the newest facts of each category and the last episodes of some
-- conversations, with all that load.sql brings of them.
--
-- in:  what load.sql takes, but facts and episodes; owners uuid[] (of what can be found there, see
--      indexing.owners), a_category int (facts of each at most; pinned ones come beside them),
--      last_episodes int (at most); as_of timestamptz (what was true then) or NULL (what is
--      believed now), now timestamptz
-- out: the rows of load.sql, and another one:
--      newer [[old fact id, new fact id, kind], …]: suggestions that nobody has decided on, of kind
--          contradiction or duplicate
-- index: indexing_unit_time_of_owner; those of load.sql; semantic_suggestion_made_once
-- {load} is load.sql without its beginning. Units are narrowed, so that what is quarantined or
-- pending review is as absent as from the answer to a question.
WITH
facts AS MATERIALIZED (
    SELECT coalesce(array_agg(memory_id), '{}') AS ids
    FROM (
        SELECT memory_id, row_number() OVER (
            PARTITION BY category ORDER BY valid_at DESC, memory_id DESC
        ) AS place
        FROM indexing_searchunit
        WHERE tenant_id = %(tenant)s AND shelf = 'fact'
            AND CASE WHEN user_scope IS NULL THEN conversation_id ELSE user_scope END
                = ANY(%(owners)s::uuid[])
            AND (%(of_user)s OR conversation_id = ANY(%(homes)s::uuid[]))
            AND CASE WHEN %(as_of)s::timestamptz IS NULL
                THEN invalid_at IS NULL ELSE valid_at <= %(as_of)s::timestamptz
            END
            AND coalesce(valid_until, 'infinity')
                > coalesce(%(as_of)s::timestamptz, %(now)s::timestamptz)
    ) AS ranked
    WHERE place <= %(a_category)s
),
episodes AS MATERIALIZED (
    SELECT coalesce(array_agg(id), '{}') AS ids
    FROM (
        SELECT id FROM episodic_episode
        WHERE tenant_id = %(tenant)s AND conversation_id = ANY(%(homes)s::uuid[])
            AND withheld_by_id IS NULL
            AND end_at <= coalesce(%(as_of)s::timestamptz, 'infinity')
        ORDER BY end_at DESC, id DESC LIMIT %(last_episodes)s
    ) AS last
),
{load}
UNION ALL
SELECT 'newer', json_agg(json_build_array(old_fact_id, new_fact_id, kind))
FROM semantic_suggestion
WHERE tenant_id = %(tenant)s AND old_fact_id = ANY((SELECT ids FROM facts)::uuid[])
    AND new_fact_id IS NOT NULL AND kind IN ('contradiction', 'duplicate')
    AND NOT is_withdrawn AND (decision = '' OR is_reopened)
