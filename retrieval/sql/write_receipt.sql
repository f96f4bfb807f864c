-- Writes the receipt of one answer with its hits; alone in a transaction or part of one.
--
-- in:  id, tenant_id uuid; conversation_id, asked_by_id uuid or NULL; kind, query, embedding_model,
--      degraded text; parameters, counts jsonb; tokens, latency_ms, through_seq int; relevance float
--      or NULL;
--      reviewable bool; parts jsonb or NULL, signature text;
--      hits json: [[id, memory, shelf, rank, score, lexical rank, vector rank], …] as served
-- out: nothing
-- index: none
WITH receipt AS (
    INSERT INTO retrieval_retrieval (
        id, tenant_id, conversation_id, kind, asked_by_id, query, parameters, embedding_model,
        counts, degraded, tokens, latency_ms, relevance, through_seq, reviewable, parts, signature
    ) VALUES (
        %(id)s, %(tenant_id)s, %(conversation_id)s, %(kind)s, %(asked_by_id)s, %(query)s,
        %(parameters)s, %(embedding_model)s, %(counts)s, %(degraded)s, %(tokens)s,
        %(latency_ms)s, %(relevance)s, %(through_seq)s, %(reviewable)s, %(parts)s, %(signature)s
    )
)
INSERT INTO retrieval_retrievalhit (
    id, tenant_id, retrieval_id, memory_id, memory_kind, rank, score, lexical_rank, vector_rank
)
SELECT (hit ->> 0)::uuid, %(tenant_id)s, %(id)s, (hit ->> 1)::uuid, hit ->> 2, (hit ->> 3)::int,
    (hit ->> 4)::float8, (hit ->> 5)::int, (hit ->> 6)::int
FROM json_array_elements(%(hits)s::json) AS hit
-- Rows of a SELECT for a distributed table would else come by COPY, which policies refuse.
ON CONFLICT (tenant_id, id) DO NOTHING
