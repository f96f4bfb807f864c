-- What an answer is chosen from: facts with what says them, messages, episodes.
--
-- in:  tenant uuid; homes uuid[] (conversations that pinned facts come from); facts uuid[]; pinned
--      int (facts at most that were not asked for, guidelines and dangers); said_in uuid[] and
--      seqs bigint[], of one length (messages of which the content is wanted: episode and seq);
--      episodes uuid[]; whole bool (whether all their messages are wanted), bytes_at_most int
--      (of those messages), retired bool (whether it is wanted which messages are over);
--      counter text (of tokens); shared bool (whether homes are wanted), of_user bool (whether
--      the homes are all of a user's)
-- out: a row of each kind: kind text, rows json (null: none)
--      fact [[id, category, fact, keywords, is_pinned, valid_at, invalid_at, home, place], …]:
--          home the agent's own id of its conversation, where it is wanted, else null; place
--          null of those asked for, else from 1, newest first
--      evidence [[fact_id, episode_id, message_seqs], …], oldest first
--      message [[id, seq, role, name, content, occurred_at, utc_offset, metadata, quarters, episode_id], …],
--          by seq: content is null of a message that only says a fact; quarters of a token of
--          the content, null if that counter has not counted it
--      episode [[id, title, summary, surprise, end_at, home, {name: value of its other fields}],
--          …]
--      beyond [id, …]: episodes left out, as their messages would exceed bytes_at_most
--      retired [[episode_id, seq], …]: those of seqs that say what is over or wrong, and nothing
--          still active
-- index: semantic_fact_pinned; semantic_evidence_counts_once; semantic_evidence_elsewhere;
--      semantic_evidence_episode_id_c54a37b1; episodic_message_by_episode; the primary keys
WITH
wanted AS MATERIALIZED (
    SELECT DISTINCT episode_id, seq
    FROM unnest(%(said_in)s::uuid[], %(seqs)s::bigint[]) AS place (episode_id, seq)
),
pinned AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY created_at DESC, id DESC) AS place
    FROM (
        (
            SELECT id, created_at FROM semantic_fact
            WHERE tenant_id = %(tenant)s AND conversation_id = ANY(%(homes)s::uuid[])
                AND (NOT %(shared)s OR user_id = '') AND is_pinned AND invalid_at IS NULL
                AND id <> ALL(%(facts)s::uuid[])
            ORDER BY created_at DESC, id DESC LIMIT %(pinned)s
        )
        UNION ALL
        SELECT id, created_at FROM semantic_fact
        WHERE tenant_id = %(tenant)s AND conversation_id <> ALL(%(homes)s::uuid[])
            AND is_pinned AND invalid_at IS NULL AND id <> ALL(%(facts)s::uuid[]) AND id IN (
                SELECT fact_id FROM semantic_evidence
                WHERE tenant_id = %(tenant)s AND conversation_id = ANY(%(homes)s::uuid[])
                    AND withdrawn_by_id IS NULL
            )
    ) AS own_or_said
    ORDER BY created_at DESC, id DESC LIMIT %(pinned)s
),
-- What these conversations have said: of a fact of another one of the user, that alone.
evidence AS MATERIALIZED (
    SELECT said.id, fact_id, episode_id, message_seqs
    FROM semantic_evidence AS said JOIN semantic_fact AS fact ON fact.id = fact_id
    WHERE said.tenant_id = %(tenant)s AND fact.tenant_id = %(tenant)s
        AND withdrawn_by_id IS NULL
        AND CASE WHEN NOT %(shared)s OR %(of_user)s
            THEN coalesce(said.conversation_id, fact.conversation_id) = ANY(%(homes)s::uuid[])
                -- of who said it in another one's conversation
                OR %(of_user)s AND fact.user_id <> ''
            ELSE TRUE
        END
        AND fact_id IN (SELECT unnest(%(facts)s::uuid[]) UNION ALL SELECT id FROM pinned)
),
-- Of a conversation that is not the user's own, who has said something there, no episode is shown
-- whole: only what he said himself was found.
shown AS MATERIALIZED (
    SELECT id FROM episodic_episode
    WHERE tenant_id = %(tenant)s AND id = ANY(%(episodes)s::uuid[])
        AND (NOT %(of_user)s OR NOT %(whole)s OR conversation_id = ANY(%(homes)s::uuid[]))
),
-- Of whole episodes, in their order, those beyond what an answer may hold; the first is given.
beyond AS MATERIALIZED (
    SELECT episode_id FROM (
        SELECT episode_id, row_number() OVER ranked AS place, sum(bytes) OVER ranked AS bytes
        FROM (
            SELECT episode_id, sum(octet_length(content) + octet_length(metadata::text)) AS bytes
            FROM episodic_message
            WHERE tenant_id = %(tenant)s AND episode_id IN (SELECT id FROM shown) AND %(whole)s
            GROUP BY episode_id
        ) AS size
        WINDOW ranked AS (ORDER BY array_position(%(episodes)s::uuid[], episode_id))
    ) AS added
    WHERE place > 1 AND bytes > %(bytes_at_most)s
),
message AS MATERIALIZED (
    SELECT id, seq, role, name, content, occurred_at, utc_offset, metadata, token_sizes, episode_id
    FROM wanted JOIN episodic_message USING (episode_id, seq)
    WHERE tenant_id = %(tenant)s
    UNION ALL
    SELECT id, seq, role, name, content, occurred_at, utc_offset, metadata, token_sizes, episode_id
    FROM episodic_message
    WHERE tenant_id = %(tenant)s AND episode_id IN (SELECT id FROM shown) AND %(whole)s
        AND episode_id NOT IN (SELECT episode_id FROM beyond)
),
pointed AS (
    SELECT message.id, seq, role, name, NULL, occurred_at, utc_offset, metadata, token_sizes, episode_id
    FROM (SELECT DISTINCT episode_id, unnest(message_seqs) AS seq FROM evidence) AS source
    JOIN episodic_message AS message USING (episode_id, seq)
    WHERE tenant_id = %(tenant)s AND message.id NOT IN (SELECT id FROM message)
)
SELECT 'fact' AS kind, json_agg(json_build_array(
    id, category, fact, keywords, is_pinned, valid_at, invalid_at, CASE WHEN %(shared)s THEN (
        SELECT external_id FROM episodic_conversation AS home
        WHERE home.tenant_id = %(tenant)s AND home.id = semantic_fact.conversation_id
    ) END, place
)) AS rows
FROM semantic_fact LEFT JOIN pinned USING (id)
WHERE tenant_id = %(tenant)s
    AND id IN (SELECT unnest(%(facts)s::uuid[]) UNION ALL SELECT id FROM pinned)
UNION ALL
SELECT 'evidence', json_agg(json_build_array(fact_id, episode_id, message_seqs) ORDER BY id)
FROM evidence
UNION ALL
SELECT 'message', json_agg(json_build_array(
    id, seq, role, name, content, occurred_at, utc_offset, metadata, (token_sizes ->> %(counter)s)::int,
    episode_id
) ORDER BY seq, id)
FROM (SELECT * FROM message UNION ALL SELECT * FROM pointed) AS row
UNION ALL
SELECT 'episode', json_agg(json_build_array(
    id, CASE WHEN is_own THEN title ELSE '' END, CASE WHEN is_own THEN summary ELSE '' END,
    surprise, end_at, CASE WHEN %(shared)s THEN (
        SELECT external_id FROM episodic_conversation AS home
        WHERE home.tenant_id = %(tenant)s AND home.id = episodic_episode.conversation_id
    ) END, json_build_object(
        'stability', stability, 'difficulty', difficulty, 'surprise', surprise,
        'start_at', start_at, 'end_at', end_at, 'created_at', created_at,
        'last_reviewed_at', last_reviewed_at, 'consolidated_at', consolidated_at
    )
))
FROM episodic_episode CROSS JOIN LATERAL (
    -- Of another one's conversation a user has messages that name him, and no words on others.
    SELECT NOT %(of_user)s OR conversation_id = ANY(%(homes)s::uuid[]) AS is_own
) AS seen
WHERE tenant_id = %(tenant)s AND id IN (SELECT id FROM shown)
    AND id NOT IN (SELECT episode_id FROM beyond)
UNION ALL
SELECT 'beyond', json_agg(episode_id) FROM beyond
UNION ALL
SELECT 'retired', json_agg(json_build_array(episode_id, seq))
FROM (
    SELECT episode_id, seq
    FROM (
        SELECT fact_id, episode_id, seq
        FROM (
            SELECT fact_id, episode_id, unnest(message_seqs) AS seq FROM semantic_evidence
            WHERE tenant_id = %(tenant)s AND episode_id = ANY(%(episodes)s::uuid[])
                AND withdrawn_by_id IS NULL AND %(retired)s
        ) AS said
        WHERE (episode_id, seq) IN (SELECT episode_id, seq FROM wanted)
        OFFSET 0  -- or facts of all messages would be looked up
    ) AS source JOIN semantic_fact AS fact ON fact.id = fact_id
    WHERE fact.tenant_id = %(tenant)s
        AND (invalid_at IS NULL OR invalidated_because IN ('superseded', 'wrong'))
    GROUP BY episode_id, seq HAVING every(invalid_at IS NOT NULL)
) AS over
