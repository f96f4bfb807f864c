-- Under which ids a user is known, and the conversations that are looked through for him.
--
-- in:  tenant uuid; user_id text; users text[] or NULL (to whom the caller is bound); agent_id
--      text or NULL; left_out uuid or NULL (a conversation)
-- out: user_ids text[], those of merged people among them (NULL: the caller may see none of
--      them); homes uuid[] or NULL (of the agent, where one is named); unmoved uuid[] or NULL:
--      those of which something may still stand under the conversation, not under its user;
--      languages text[] or NULL; has_corrections bool or NULL
-- index: people_alias_of_one_person, people_alias_by_person, people_merge_holds_once,
--      people_merge_by_into; episodic_conversation_by_user
WITH RECURSIVE
-- Whoever they turned out to be, and in the end all who turned out to be the same.
head AS (
    SELECT person_id AS id FROM people_alias
    WHERE tenant_id = %(tenant)s AND kind = 'user' AND value = %(user_id)s
    UNION
    SELECT merge.into_id FROM head JOIN people_merge AS merge ON merge.person_id = head.id
    WHERE merge.tenant_id = %(tenant)s AND merge.undone_at IS NULL
),
person AS (
    SELECT id FROM head
    UNION
    SELECT merge.person_id FROM person JOIN people_merge AS merge ON merge.into_id = person.id
    WHERE merge.tenant_id = %(tenant)s AND merge.undone_at IS NULL
),
alias AS MATERIALIZED (
    SELECT user_id FROM (
        SELECT %(user_id)s::text AS user_id
        UNION
        SELECT value FROM people_alias
        WHERE tenant_id = %(tenant)s AND kind = 'user' AND person_id IN (SELECT id FROM person)
    ) AS known
    WHERE coalesce(user_id = ANY(%(users)s::text[]), TRUE)
),
home AS MATERIALIZED (
    SELECT id, language, in_user_scope, has_corrections FROM episodic_conversation
    WHERE tenant_id = %(tenant)s AND user_id <> ''
        AND user_id = ANY((SELECT array_agg(user_id) FROM alias)::text[])
        AND (%(agent_id)s::text IS NULL OR agent_id = %(agent_id)s::text)
        AND id IS DISTINCT FROM %(left_out)s::uuid
)
SELECT (SELECT array_agg(user_id ORDER BY user_id) FROM alias), array_agg(id),
    array_agg(id) FILTER (WHERE NOT in_user_scope), array_agg(DISTINCT language::text),
    bool_or(has_corrections)
FROM home
