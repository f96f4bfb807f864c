-- The facts that the server believed at one instant, or held to have been true at another.
--
-- in:  tenant uuid; homes uuid[] (conversations) or NULL (all of the tenant); beside uuid[] or
--      NULL (all conversations of their users: acts in any of them change the facts); also uuid[]
--      (facts of these that the homes have evidence of); known_at timestamptz; as_of timestamptz
--      or NULL (what was active at known_at; else what was then held true at as_of)
-- out: id uuid, in no order
-- index: semantic_changeset_by_time, the one on a change's changeset, and of conversations
--      semantic_fact_of_conversation
-- A row has a fact's present state. The first change of it after that instant has the state then.
WITH later AS (
    SELECT DISTINCT ON (fact_id) fact_id, before
    FROM semantic_changeset AS act
    JOIN semantic_change AS step ON step.changeset_id = act.id AND step.tenant_id = act.tenant_id
    CROSS JOIN LATERAL (
        SELECT key::uuid AS fact_id, value -> 0 AS before FROM jsonb_each(step.states)
    ) AS stored
    WHERE act.tenant_id = %(tenant)s AND act.started_at > %(known_at)s::timestamptz
        AND (%(beside)s::uuid[] IS NULL OR act.conversation_id IS NULL
            OR act.conversation_id = ANY(%(beside)s::uuid[]))
    ORDER BY fact_id, act.started_at, act.id, step.position
)
SELECT fact.id
FROM semantic_fact AS fact LEFT JOIN later ON later.fact_id = fact.id
CROSS JOIN LATERAL (
    SELECT
        CASE WHEN later.fact_id IS NULL THEN fact.invalidated_because
            ELSE before ->> 'because' END AS because,
        CASE WHEN later.fact_id IS NULL THEN fact.valid_until
            ELSE (before ->> 'valid_until')::timestamptz END AS valid_until
) AS state
WHERE fact.tenant_id = %(tenant)s AND fact.created_at <= %(known_at)s::timestamptz
    AND fact.invalidated_because <> 'forgotten'
    AND (%(homes)s::uuid[] IS NULL OR fact.conversation_id = ANY(%(homes)s::uuid[])
        OR fact.id = ANY(%(also)s::uuid[]))
    AND CASE WHEN %(as_of)s::timestamptz IS NULL THEN state.because = '' ELSE
        state.because IN ('', 'superseded') AND fact.valid_at <= %(as_of)s::timestamptz
        AND coalesce(state.valid_until, 'infinity') > %(as_of)s::timestamptz
    END
