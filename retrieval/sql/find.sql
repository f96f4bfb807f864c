-- The memories of a whole tenant that answer a query: facts, episodes and notes in one order.
--
-- Relevance is 0 to 1 and says the same in every search: the larger of the share of the query's
-- words that a memory holds, weighed by their idf, and its calibrated likeness in meaning.
--
-- in:  tenant uuid; words text (prepared; empty: none), language text (whose stop words do not
--      count), languages text[], words_at_most, frequent, candidates int (units a word);
--      vector halfvec or NULL, model text, dim int, near_pool int; unlike and like float (the
--      cosines that count 0 and 1); everything bool (all memories, at `neutral` float);
--      linked uuid[] and link_shares float[] (memories that count that much at least);
--      known uuid[] (facts that were believed, where `past` asks for another moment);
--      filtered bool and the filters of describing.sql; few int (memories of which
--      the vectors are looked up); min_relevance float, sort_by text, at_most int
-- out: memory_id uuid, shelf, source_type text, score, importance, combined float, at
--      timestamptz, lexical_rank, vector_rank bigint or NULL, lexical_found, vector_found bigint
--      (memories of that kind in each leg), distance float or NULL (1 less the cosine),
--      total bigint (memories that match)
-- index: indexing_unit_by_terms; indexing_vector_of_owner, index-only, for wide vectors
--      indexing_vector_wide_of_owner; an approximate index of the whole tenant where there is one and
--      nothing is filtered; those of describing.sql
-- {described} and {passing} are describing.sql, {passes} keeps to what passes the filters; a
-- partial index needs constants: {near_facts} and so on.
WITH
-- Named once: each mention would be read from its text anew.
aim AS MATERIALIZED (SELECT %(vector)s::halfvec AS vector),
known AS MATERIALIZED (SELECT unnest(%(known)s::uuid[]) AS id),
home AS MATERIALIZED (
    SELECT id FROM episodic_conversation
    WHERE tenant_id = %(tenant)s AND external_id = %(conversation_id)s::uuid
),
named AS MATERIALIZED (
    SELECT id FROM episodic_conversation
    WHERE tenant_id = %(tenant)s AND external_id::text = ANY(%(source_ids)s::text[])
),
of_users AS MATERIALIZED (
    SELECT id FROM episodic_conversation
    WHERE tenant_id = %(tenant)s AND user_id = ANY(%(user_ids)s::text[]) AND user_id <> ''
),
of_agent AS MATERIALIZED (
    SELECT id FROM episodic_conversation
    WHERE tenant_id = %(tenant)s AND agent_id = %(agent_id)s::text AND agent_id <> ''
),
passing AS MATERIALIZED (
    SELECT memory.* FROM ({passing}) AS memory WHERE %(filtered)s OR %(everything)s
),
-- Where few pass, their vectors are looked up one by one, and no others are read; no row: many.
few AS MATERIALIZED (
    SELECT array_agg(id) AS ids FROM passing HAVING %(filtered)s AND count(*) <= %(few)s
),
asked AS MATERIALIZED (
    SELECT language, lexeme, place
    FROM unnest(%(languages)s::text[]) AS language CROSS JOIN LATERAL (
        SELECT lexeme, positions[1] AS place
        FROM unnest(public.memory_ts(language, %(words)s))
    ) AS word
    WHERE place IN (
        SELECT unnest(positions) AS place
        FROM unnest(public.memory_ts(%(language)s, %(words)s))
        ORDER BY place LIMIT %(words_at_most)s
    )
),
word AS MATERIALIZED (
    SELECT place, array_agg(DISTINCT public.memory_term(kind, lexeme)) AS terms
    FROM asked CROSS JOIN unnest(ARRAY['fact', 'message', 'episode', 'note']) AS kind
    GROUP BY place
),
size AS MATERIALIZED (
    SELECT shelf, sum(units)::float8 AS n,
        greatest(sum(lexemes)::float8 / sum(units)::float8, 1) AS average_dl
    FROM indexing_shelfsize WHERE tenant_id = %(tenant)s AND user_scope IS NULL
    GROUP BY shelf HAVING sum(units) > 0
),
-- `OFFSET 0`: by the index of the words, not by one that could only say whose the units are; so
-- the tenant is named outside, twice. Inside, a tenant of 3,000 units among 69,000 paid 362 ms a
-- word instead of 0.6 on one server. Citus does not look outside: a table that is not narrowed to
-- the tenant behind the fence makes it refuse the whole statement, so there {routed} names it.
rarity AS MATERIALIZED (
    SELECT place, ln(1 + (greatest(n, df) - df + 0.5::float8) / (df + 0.5::float8)) AS idf
    FROM word CROSS JOIN (SELECT coalesce(sum(n), 0) AS n FROM size) AS whole
    CROSS JOIN LATERAL (
        SELECT count(*)::float8 AS df FROM (
            SELECT FROM (
                SELECT tenant_id, invalid_at FROM indexing_searchunit
                WHERE public.memory_terms(kind, language, lexical_text, own_words) && word.terms
                {routed} OFFSET 0
            ) AS unit
            WHERE tenant_id = %(tenant)s AND invalid_at IS NULL
            LIMIT %(frequent)s
        ) AS holding
    ) AS frequency
),
question AS MATERIALIZED (
    SELECT language, sum(idf) AS best, ('{' || string_agg(
        slot || ':' || idf || ',' || slot + 1 || ':' || idf, ','
    ) || '}/1000000000')::sparsevec AS words
    FROM (
        SELECT language, public.memory_slot(lexeme) AS slot, max(idf) AS idf
        FROM asked JOIN rarity USING (place) GROUP BY language, slot
    ) AS weight
    GROUP BY language
),
candidate AS MATERIALIZED (
    SELECT unit.id
    FROM word CROSS JOIN LATERAL (
        SELECT id FROM (
            SELECT id, tenant_id, invalid_at, shelf, memory_id FROM indexing_searchunit
            WHERE public.memory_terms(kind, language, lexical_text, own_words) && word.terms
            {routed} OFFSET 0
        ) AS holding
        WHERE tenant_id = %(tenant)s AND (%(past)s OR invalid_at IS NULL)
            AND shelf = ANY(%(shelves)s::text[]) AND {passes}
        LIMIT %(candidates)s
    ) AS unit
    GROUP BY unit.id
),
-- BM25 (k1 1.2, b 0.75), its norm of length taken at one occurrence of a word: then the product
-- with the question is the score. A unit of average length that holds each word once has `best`.
lexical AS (
    SELECT memory_id, max(score) AS share
    FROM (
        SELECT unit.memory_id, -(unit.words <#> question.words) / question.best
            * 2.2::float8 / (1.3::float8 + 0.9::float8 * unit.dl / size.average_dl) AS score
        FROM candidate JOIN indexing_searchunit AS unit USING (id)
        JOIN question USING (language) JOIN size USING (shelf)
        WHERE unit.tenant_id = %(tenant)s
    ) AS scored
    GROUP BY memory_id
),
near AS MATERIALIZED (
    SELECT shelf FROM indexing_vectorindex
    WHERE tenant_id = %(tenant)s AND conversation_id IS NULL AND NOT %(filtered)s
        AND shelf = ANY(%(shelves)s::text[]) AND model = %(model)s AND dim = %(dim)s
        AND (SELECT vector FROM aim) IS NOT NULL
),
vector_unit AS (
    SELECT memory_id, distance
    FROM (
        SELECT memory_id, embedding <#> (SELECT vector FROM aim) AS distance
        FROM indexing_searchvector
        WHERE tenant_id = %(tenant)s AND model = %(model)s AND dim = %(dim)s
            AND (%(conversation_id)s::uuid IS NULL OR conversation_id = (SELECT id FROM home))
            AND shelf = ANY(%(shelves)s::text[]) AND shelf NOT IN (SELECT shelf FROM near)
            AND (%(past)s OR invalid_at IS NULL) AND {passes}
            AND (SELECT vector FROM aim) IS NOT NULL AND NOT EXISTS (SELECT FROM few)
        OFFSET 0
    ) AS compared
    UNION ALL
    SELECT memory_id, embedding <#> (SELECT vector FROM aim)
    FROM indexing_searchvector
    WHERE tenant_id = %(tenant)s AND model = %(model)s AND dim = %(dim)s
        AND memory_id = ANY((SELECT ids FROM few)::uuid[])
        AND (%(past)s OR invalid_at IS NULL) AND (SELECT vector FROM aim) IS NOT NULL
    UNION ALL ({near_facts})
    UNION ALL ({near_episodes})
    UNION ALL ({near_notes})
),
vector AS (
    SELECT memory_id, (-min(distance) - %(unlike)s) / (%(like)s::float8 - %(unlike)s) AS share
    FROM vector_unit WHERE distance < -%(unlike)s::float8 GROUP BY memory_id
),
matched AS MATERIALIZED (
    SELECT * FROM (
        SELECT memory_id, max(lexical) AS lexical, max(vector) AS vector,
            least(greatest(max(lexical), max(vector), max(given)), 1)::float8 AS relevance
        FROM (
            SELECT memory_id, share AS lexical, NULL::float8 AS vector, NULL::float8 AS given
            FROM lexical WHERE share > 0
            UNION ALL SELECT memory_id, NULL, share, NULL FROM vector
            UNION ALL SELECT id, NULL, NULL, %(neutral)s FROM passing WHERE %(everything)s
            UNION ALL SELECT memory_id, NULL, NULL, share
            FROM unnest(%(linked)s::uuid[], %(link_shares)s::float8[]) AS link (memory_id, share)
            WHERE {passes}
        ) AS leg
        GROUP BY memory_id
    ) AS fused
    WHERE relevance > 0 AND relevance >= %(min_relevance)s
),
-- Looked up one by one only where not all that could be looked up is in hand.
answer AS MATERIALIZED (
    SELECT matched.*, memory.kind, memory.source_type, memory.importance, memory.at,
        0.7::float8 * matched.relevance + 0.3::float8 * memory.importance AS combined
    FROM matched JOIN passing AS memory ON memory.id = matched.memory_id
    UNION ALL
    SELECT matched.*, memory.kind, memory.source_type, memory.importance, memory.at,
        0.7::float8 * matched.relevance + 0.3::float8 * memory.importance
    FROM matched CROSS JOIN LATERAL ({described}) AS memory
    WHERE NOT (%(filtered)s OR %(everything)s)
),
leg AS (
    SELECT kind, count(lexical) AS lexical_found, count(vector) AS vector_found
    FROM answer GROUP BY kind
),
page AS MATERIALIZED (
    SELECT * FROM answer
    ORDER BY
        CASE %(sort_by)s WHEN 'relevance' THEN relevance WHEN 'importance' THEN importance
            WHEN 'combined' THEN combined END DESC,
        CASE WHEN %(sort_by)s <> 'recency' THEN combined END DESC, at DESC, memory_id DESC
    LIMIT %(at_most)s
)
-- An array, not a join: thousands of ranks would be joined in a nested loop.
SELECT page.memory_id, page.kind AS shelf, source_type, relevance AS score, importance,
    combined, at,
    by_words.rank AS lexical_rank, by_meaning.rank AS vector_rank, lexical_found, vector_found,
    1 - (%(unlike)s + vector * (%(like)s::float8 - %(unlike)s)) AS distance,
    (SELECT count(*) FROM answer) AS total
FROM page JOIN leg USING (kind)
LEFT JOIN (
    SELECT * FROM (
        SELECT memory_id, rank() OVER (PARTITION BY kind ORDER BY lexical DESC) AS rank
        FROM answer WHERE lexical IS NOT NULL
    ) AS ranked
    WHERE memory_id = ANY((SELECT array_agg(memory_id) FROM page)::uuid[])
) AS by_words ON by_words.memory_id = page.memory_id
LEFT JOIN (
    SELECT * FROM (
        SELECT memory_id, rank() OVER (PARTITION BY kind ORDER BY vector DESC) AS rank
        FROM answer WHERE vector IS NOT NULL
    ) AS ranked
    WHERE memory_id = ANY((SELECT array_agg(memory_id) FROM page)::uuid[])
) AS by_meaning ON by_meaning.memory_id = page.memory_id
ORDER BY
    CASE %(sort_by)s WHEN 'relevance' THEN relevance WHEN 'importance' THEN importance
        WHEN 'combined' THEN combined END DESC,
    CASE WHEN %(sort_by)s <> 'recency' THEN combined END DESC, at DESC, page.memory_id DESC
