-- What an answer is chosen from: facts with what says them, messages, episodes.
--
-- in:  tenant, conversation uuid; facts uuid[]; pinned int (facts at most that were not asked
--      for, guidelines and dangers); seqs bigint[] (messages of which the content is wanted);
--      episodes uuid[]; whole bool (whether all their messages are wanted), bytes_at_most int
--      (of those messages), retired bool (whether it is wanted which messages are over);
--      counter text (of tokens)
-- out: a row of each kind: kind text, rows json (null: none)
--      fact [[id, category, fact, keywords, is_pinned, valid_at, invalid_at, place], …]:
--          place null of those asked for, else from 1, newest first
--      evidence [[fact_id, episode_id, message_seqs], …], oldest first
--      message [[id, seq, role, name, content, occurred_at, metadata, quarters, episode_id], …],
--          by seq: content is null of a message that only says a fact; quarters of a token of
--          the content, null if that counter has not counted it
--      episode [[id, title, summary, surprise, end_at, {name: value of its other fields}], …]
--      beyond [id, …]: episodes left out, as their messages would exceed bytes_at_most
--      retired [seq, …]: those of seqs that say what is over or wrong, and nothing still active
-- index: semantic_fact_pinned; semantic_evidence_counts_once; semantic_evidence_elsewhere;
--      semantic_evidence_episode_id_c54a37b1;
--      episodic_message_seq; episodic_message_by_episode; the primary keys
WITH
pinned AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY created_at DESC, id DESC) AS place
    FROM (
        (
            SELECT id, created_at FROM semantic_fact
            WHERE tenant_id = %(tenant)s AND conversation_id = %(conversation)s AND is_pinned
                AND invalid_at IS NULL AND id <> ALL(%(facts)s::uuid[])
            ORDER BY created_at DESC, id DESC LIMIT %(pinned)s
        )
        UNION ALL
        SELECT id, created_at FROM semantic_fact
        WHERE tenant_id = %(tenant)s AND is_pinned AND invalid_at IS NULL
            AND id <> ALL(%(facts)s::uuid[]) AND id IN (
                SELECT fact_id FROM semantic_evidence
                WHERE tenant_id = %(tenant)s AND conversation_id = %(conversation)s
                    AND withdrawn_by_id IS NULL
            )
    ) AS own_or_known
    ORDER BY created_at DESC, id DESC LIMIT %(pinned)s
),
-- What the conversation itself has said: of a fact of another one of its user, that alone.
evidence AS MATERIALIZED (
    SELECT said.id, fact_id, episode_id, message_seqs
    FROM semantic_evidence AS said JOIN semantic_fact AS fact ON fact.id = fact_id
    WHERE said.tenant_id = %(tenant)s AND fact.tenant_id = %(tenant)s
        AND withdrawn_by_id IS NULL
        AND coalesce(said.conversation_id, fact.conversation_id) = %(conversation)s
        AND fact_id IN (SELECT unnest(%(facts)s::uuid[]) UNION ALL SELECT id FROM pinned)
),
-- Of whole episodes, in their order, those beyond what an answer may hold; the first is given.
beyond AS MATERIALIZED (
    SELECT episode_id FROM (
        SELECT episode_id, row_number() OVER ranked AS place, sum(bytes) OVER ranked AS bytes
        FROM (
            SELECT episode_id, sum(octet_length(content) + octet_length(metadata::text)) AS bytes
            FROM episodic_message
            WHERE tenant_id = %(tenant)s AND episode_id = ANY(%(episodes)s::uuid[]) AND %(whole)s
            GROUP BY episode_id
        ) AS size
        WINDOW ranked AS (ORDER BY array_position(%(episodes)s::uuid[], episode_id))
    ) AS added
    WHERE place > 1 AND bytes > %(bytes_at_most)s
),
message AS MATERIALIZED (
    SELECT id, seq, role, name, content, occurred_at, metadata, token_sizes, episode_id
    FROM episodic_message
    WHERE tenant_id = %(tenant)s AND conversation_id = %(conversation)s
        AND seq = ANY(%(seqs)s::bigint[])
    UNION ALL
    SELECT id, seq, role, name, content, occurred_at, metadata, token_sizes, episode_id
    FROM episodic_message
    WHERE tenant_id = %(tenant)s AND episode_id = ANY(%(episodes)s::uuid[]) AND %(whole)s
        AND episode_id NOT IN (SELECT episode_id FROM beyond)
),
pointed AS (
    SELECT message.id, seq, role, name, NULL, occurred_at, metadata, token_sizes, episode_id
    FROM (SELECT DISTINCT episode_id, unnest(message_seqs) AS seq FROM evidence) AS source
    JOIN episodic_message AS message USING (episode_id, seq)
    WHERE tenant_id = %(tenant)s AND message.id NOT IN (SELECT id FROM message)
)
SELECT 'fact' AS kind, json_agg(json_build_array(
    id, category, fact, keywords, is_pinned, valid_at, invalid_at, place
)) AS rows
FROM semantic_fact LEFT JOIN pinned USING (id)
WHERE tenant_id = %(tenant)s
    AND id IN (SELECT unnest(%(facts)s::uuid[]) UNION ALL SELECT id FROM pinned)
UNION ALL
SELECT 'evidence', json_agg(json_build_array(fact_id, episode_id, message_seqs) ORDER BY id)
FROM evidence
UNION ALL
SELECT 'message', json_agg(json_build_array(
    id, seq, role, name, content, occurred_at, metadata, (token_sizes ->> %(counter)s)::int,
    episode_id
) ORDER BY seq)
FROM (SELECT * FROM message UNION ALL SELECT * FROM pointed) AS row
UNION ALL
SELECT 'episode', json_agg(json_build_array(
    id, title, summary, surprise, end_at, json_build_object(
        'stability', stability, 'difficulty', difficulty, 'surprise', surprise,
        'start_at', start_at, 'end_at', end_at, 'created_at', created_at,
        'last_reviewed_at', last_reviewed_at, 'consolidated_at', consolidated_at
    )
))
FROM episodic_episode
WHERE tenant_id = %(tenant)s AND id = ANY(%(episodes)s::uuid[])
    AND id NOT IN (SELECT episode_id FROM beyond)
UNION ALL
SELECT 'beyond', json_agg(episode_id) FROM beyond
UNION ALL
SELECT 'retired', json_agg(seq)
FROM (
    SELECT seq
    FROM (
        SELECT fact_id, seq
        FROM (
            SELECT fact_id, unnest(message_seqs) AS seq FROM semantic_evidence
            WHERE tenant_id = %(tenant)s AND episode_id = ANY(%(episodes)s::uuid[])
                AND withdrawn_by_id IS NULL AND %(retired)s
        ) AS said
        WHERE seq = ANY(%(seqs)s::bigint[])
        OFFSET 0  -- or facts of all messages would be looked up
    ) AS source JOIN semantic_fact AS fact ON fact.id = fact_id
    WHERE fact.tenant_id = %(tenant)s
        AND (invalid_at IS NULL OR invalidated_because IN ('superseded', 'wrong'))
    GROUP BY seq HAVING every(invalid_at IS NOT NULL)
) AS over
