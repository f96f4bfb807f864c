-- The search units of one kind that hold the words asked for, whoever's they are.
--
-- For people who look for something in a whole tenant, not for agents: all words must be
-- there (or any, for a guess), and the newest of what has them are scored, by exact Okapi
-- over the unit's own words. Document frequencies are counted up to a cap, so a frequent
-- word weighs a little more than it should; the average length is that of what is scored.
--
-- in:  kind text, words text (prepared), every bool (all words or any), languages text[],
--      phrases text[] (prepared: letters that must be there), tenant and conversation uuid
--      or NULL, since and until timestamptz or NULL (of valid_at), candidates, pool,
--      frequent, walked int (how many units are looked at: see {pool}), walks bool (whether
--      too many candidates are left to another statement, that walks)
-- out: many bool (there were more candidates than looked at), unit_id, memory_id,
--      conversation_id uuid, seq bigint or NULL, language text, lexemes text[] (those
--      asked for, in its language), score float; where nothing is found one row of NULLs
-- index: indexing_unit_by_terms; indexing_searchunit_pkey where {pool} walks
-- {pool} is what has the words, by the index or, for words that are everywhere, by walking
-- back from the newest unit; {narrowed} keeps to tenant, conversation, times and phrases.
WITH
asked AS MATERIALIZED (
    SELECT language, array_agg(DISTINCT lexeme) AS lexemes,
        array_agg(DISTINCT public.memory_term(%(kind)s, lexeme)) AS terms,
        ('{' || string_agg(DISTINCT public.memory_slot(lexeme) || ':1', ',')
            || '}/1000000000')::sparsevec AS probe,
        count(DISTINCT public.memory_slot(lexeme)) AS slots
    FROM unnest(%(languages)s::text[]) AS language CROSS JOIN LATERAL
        unnest(tsvector_to_array(public.memory_ts(language, %(words)s))) AS lexeme
    GROUP BY language
),
{pool},
own AS MATERIALIZED (
    SELECT pool.*, (
        SELECT coalesce(sum(cardinality(positions)), 0)::float8 FROM unnest(ts)
    ) AS dl
    FROM (
        SELECT unit.id, unit.memory_id, unit.conversation_id, unit.first_seq, unit.language,
            unit.valid_at, asked.lexemes,
            public.memory_ts(
                unit.language, public.memory_own(unit.lexical_text, unit.own_words)
            ) AS ts
        FROM pool JOIN indexing_searchunit AS unit USING (tenant_id, id)
        JOIN asked ON asked.language = unit.language
        OFFSET 0
    ) AS pool
),
average AS (SELECT greatest(avg(dl), 1) AS dl FROM own),
word AS MATERIALIZED (SELECT DISTINCT unnest(lexemes) AS lexeme FROM own),
rarity AS MATERIALIZED (
    SELECT lexeme, ln(1 + (greatest(n, df) - df + 0.5::float8) / (df + 0.5::float8)) AS idf
    FROM word
    CROSS JOIN (
        SELECT coalesce(sum(units), 0)::float8 AS n FROM indexing_shelfsize
        WHERE user_scope IS NULL
            AND shelf = CASE %(kind)s WHEN 'message' THEN 'episode' ELSE %(kind)s END{of_tenant}
    ) AS size
    CROSS JOIN LATERAL (
        SELECT count(*)::float8 AS df FROM (
            SELECT FROM indexing_searchunit
            WHERE public.memory_terms(kind, language, lexical_text, own_words)
                @> ARRAY[public.memory_term(%(kind)s, lexeme)]{of_tenant}
            -- Of a single word the frequency makes no difference.
            LIMIT (SELECT CASE WHEN count(*) > 1 THEN %(frequent)s ELSE 0 END FROM word)
        ) AS holding
    ) AS frequency
),
scored AS (
    SELECT own.id, own.memory_id, own.conversation_id, own.first_seq, own.language,
        own.lexemes, own.valid_at, (
            SELECT sum(idf * tf * 2.2::float8
                / (tf + 1.2 * (0.25 + 0.75 * own.dl / average.dl)))
            FROM (
                SELECT lexeme, cardinality(positions)::float8 AS tf FROM unnest(own.ts)
            ) AS held JOIN rarity USING (lexeme)
            WHERE lexeme = ANY(own.lexemes)
        ) AS score
    FROM own CROSS JOIN average
)
SELECT size.many, scored.id, memory_id, conversation_id, first_seq, language, lexemes,
    score::float8
FROM (SELECT count(*) >= %(candidates)s AS many FROM candidate) AS size
LEFT JOIN scored ON score IS NOT NULL
ORDER BY score DESC NULLS LAST, scored.valid_at DESC, scored.id DESC
