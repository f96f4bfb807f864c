-- The memories of one conversation that answer a query best, facts and episodes at once.
--
-- Two legs, exact BM25 over words and exact inner products over vectors, are fused by
-- reciprocal rank; episodes are then weighted by how well they are still remembered.
-- Each shelf (kind of memory) is ranked by itself, with its own document statistics. A
-- memory has several units (an episode one a message); its rank in a leg is that of its
-- best unit.
--
-- in:  tenant uuid, conversation uuid, shelves text[], language text, words text
--      (prepared), model text, dim int, vector halfvec or NULL, category text or NULL,
--      depth int (memories a leg), k float (of RRF), limits by shelf: fact_limit,
--      episode_limit int; now timestamptz, factor and decay float (of FSRS),
--      line_limit int (messages of served episodes; 0 for none), headline float (weight);
--      as_of timestamptz or NULL (what was true then; NULL: what is believed now),
--      explain bool (whether `terms` are wanted)
-- out: memory_id uuid, shelf text, rank int (1 is best), score float, rrf float,
--      retrievability float, lexical_rank int or NULL, vector_rank int or NULL,
--      lexical_found int, vector_found int (memories in each leg of that shelf),
--      lines json or NULL ([seq, score] a message that is among the best `line_limit`),
--      terms text[] or NULL (lexemes of the query that the memory holds, with `explain`)
-- index: indexing_unit_ts and indexing_unit_by_scope; indexing_vector_by_scope; with as_of
--      indexing_unit_by_time and indexing_vector_by_time
WITH
asked AS MATERIALIZED (
    SELECT tsvector_to_array(public.memory_ts(%(language)s, %(words)s)) AS lexemes
),
-- A lexeme quotes itself by way of tsvector: its rules are those of tsquery.
wanted AS MATERIALIZED (
    SELECT string_agg(array_to_tsvector(ARRAY[lexeme])::text, ' | ')::tsquery AS query
    FROM asked, unnest(asked.lexemes) AS lexeme
),
shelf_size AS MATERIALIZED (
    SELECT shelf, count(*)::float8 AS n, greatest(avg(dl), 1)::float8 AS average_dl
    FROM indexing_searchunit
    WHERE tenant_id = %(tenant)s AND conversation_id = %(conversation)s
        AND shelf = ANY(%(shelves)s)
        AND (%(as_of)s::timestamptz IS NULL AND invalid_at IS NULL
            OR valid_at <= %(as_of)s::timestamptz
            AND coalesce(valid_until, 'infinity') > %(as_of)s::timestamptz)
    GROUP BY shelf
),
-- One row a unit and lexeme. The filter by category comes later: document frequencies
-- are those of the whole shelf.
occurrences AS MATERIALIZED (
    SELECT unit.id AS unit_id, unit.memory_id, unit.shelf, unit.category, unit.dl,
        word.lexeme, cardinality(word.positions)::float8 AS tf
    FROM indexing_searchunit AS unit, unnest(unit.ts) AS word
    WHERE unit.tenant_id = %(tenant)s AND unit.conversation_id = %(conversation)s
        AND unit.shelf = ANY(%(shelves)s)
        AND (%(as_of)s::timestamptz IS NULL AND unit.invalid_at IS NULL
            OR unit.valid_at <= %(as_of)s::timestamptz
            AND coalesce(unit.valid_until, 'infinity') > %(as_of)s::timestamptz)
        AND unit.ts @@ (SELECT query FROM wanted)
        AND word.lexeme = ANY((SELECT lexemes FROM asked)::text[])
),
rarity AS MATERIALIZED (
    SELECT shelf, lexeme, ln(1 + (n - count(*) + 0.5) / (count(*) + 0.5)) AS idf
    FROM occurrences JOIN shelf_size USING (shelf)
    GROUP BY shelf, lexeme, n
),
lexical_unit AS MATERIALIZED (
    SELECT unit_id, memory_id, shelf,
        sum(idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * dl / average_dl))) AS score
    FROM occurrences JOIN rarity USING (shelf, lexeme) JOIN shelf_size USING (shelf)
    WHERE %(category)s::text IS NULL OR shelf <> 'fact' OR category = %(category)s::text
    GROUP BY unit_id, memory_id, shelf
),
lexical AS (
    SELECT * FROM (
        SELECT memory_id, shelf,
            row_number() OVER (PARTITION BY shelf ORDER BY max(score) DESC, memory_id) AS rank
        FROM lexical_unit GROUP BY memory_id, shelf
    ) AS ranked WHERE rank <= %(depth)s
),
vector_unit AS MATERIALIZED (
    SELECT unit_id, memory_id, shelf, embedding <#> %(vector)s::halfvec AS distance
    FROM indexing_searchvector
    WHERE tenant_id = %(tenant)s AND conversation_id = %(conversation)s
        AND shelf = ANY(%(shelves)s) AND model = %(model)s AND dim = %(dim)s
        AND %(vector)s::halfvec IS NOT NULL
        AND (%(as_of)s::timestamptz IS NULL AND invalid_at IS NULL
            OR valid_at <= %(as_of)s::timestamptz
            AND coalesce(valid_until, 'infinity') > %(as_of)s::timestamptz)
        AND (%(category)s::text IS NULL OR shelf <> 'fact' OR category = %(category)s::text)
),
vector AS (
    SELECT * FROM (
        SELECT memory_id, shelf,
            row_number() OVER (PARTITION BY shelf ORDER BY min(distance), memory_id) AS rank
        FROM vector_unit GROUP BY memory_id, shelf
    ) AS ranked WHERE rank <= %(depth)s
),
fused AS (
    SELECT memory_id, shelf, lexical.rank AS lexical_rank, vector.rank AS vector_rank,
        coalesce(1 / (%(k)s + lexical.rank), 0) + coalesce(1 / (%(k)s + vector.rank), 0) AS rrf,
        count(lexical.rank) OVER (PARTITION BY shelf) AS lexical_found,
        count(vector.rank) OVER (PARTITION BY shelf) AS vector_found
    FROM lexical FULL JOIN vector USING (memory_id, shelf)
),
weighted AS (
    SELECT fused.*,
        CASE WHEN episode.id IS NULL THEN 1 ELSE power(
            1 + %(factor)s::float8 * greatest(
                extract(epoch FROM %(now)s::timestamptz - episode.last_reviewed_at)::float8, 0
            ) / 86400 / episode.stability,
            -%(decay)s::float8
        ) END AS retrievability
    FROM fused LEFT JOIN episodic_episode AS episode
        ON episode.id = memory_id AND episode.tenant_id = %(tenant)s
),
best AS MATERIALIZED (
    SELECT * FROM (
        SELECT *, row_number() OVER (
            PARTITION BY shelf ORDER BY rrf * retrievability DESC, memory_id
        ) AS rank
        FROM weighted
    ) AS ranked
    WHERE rank <= CASE shelf WHEN 'fact' THEN %(fact_limit)s ELSE %(episode_limit)s END
),
-- Single messages, scored for a budget of tokens. Deviations are added, not ranks: how far
-- a message stands out counts. Where no vectors are there, only messages with a word in
-- common match.
headline AS (
    SELECT unit.memory_id, -vector_unit.distance AS cosine
    FROM vector_unit JOIN indexing_searchunit AS unit ON unit.id = vector_unit.unit_id
    WHERE %(line_limit)s > 0 AND unit.tenant_id = %(tenant)s AND unit.kind = 'episode'
),
message AS (
    SELECT unit.memory_id, unit.first_seq AS seq, coalesce(lexical_unit.score, 0) AS words,
        -vector_unit.distance AS cosine, headline.cosine AS episode_cosine
    FROM indexing_searchunit AS unit
    LEFT JOIN lexical_unit ON lexical_unit.unit_id = unit.id
    LEFT JOIN vector_unit ON vector_unit.unit_id = unit.id
    LEFT JOIN headline ON headline.memory_id = unit.memory_id
    WHERE %(line_limit)s > 0 AND unit.tenant_id = %(tenant)s
        AND unit.conversation_id = %(conversation)s
        AND (%(as_of)s::timestamptz IS NULL AND unit.invalid_at IS NULL
            OR unit.valid_at <= %(as_of)s::timestamptz
            AND coalesce(unit.valid_until, 'infinity') > %(as_of)s::timestamptz)
        AND unit.shelf = 'episode' AND unit.shelf = ANY(%(shelves)s) AND unit.kind = 'message'
),
standing_out AS (
    SELECT memory_id, seq, words > 0 OR cosine IS NOT NULL AS matches,
        coalesce((words - avg(words) OVER everything)
            / nullif(stddev_pop(words) OVER everything, 0), 0)
        + coalesce((cosine - avg(cosine) OVER everything)
            / nullif(stddev_pop(cosine) OVER everything, 0), 0)
        + %(headline)s * coalesce((episode_cosine - avg(episode_cosine) OVER everything)
            / nullif(stddev_pop(episode_cosine) OVER everything, 0), 0) AS score
    FROM message
    WINDOW everything AS ()
),
line AS (
    SELECT memory_id, json_agg(json_build_array(seq, score) ORDER BY score DESC, seq) AS lines
    FROM (
        SELECT memory_id, seq, standing_out.score
        FROM standing_out JOIN best USING (memory_id)
        WHERE matches
        ORDER BY standing_out.score DESC, seq
        LIMIT %(line_limit)s
    ) AS chosen
    GROUP BY memory_id
)
SELECT memory_id, shelf, rank, (rrf * retrievability)::float8 AS score, rrf::float8,
    retrievability::float8, lexical_rank, vector_rank, lexical_found, vector_found, lines,
    CASE WHEN %(explain)s THEN ARRAY(
        SELECT DISTINCT lexeme FROM occurrences
        WHERE occurrences.memory_id = best.memory_id ORDER BY lexeme
    ) END AS terms
FROM best LEFT JOIN line USING (memory_id)
ORDER BY shelf, rank
