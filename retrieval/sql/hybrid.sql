-- The memories that answer a query best, facts and episodes at once: those of one conversation,
-- of all of a user's, or some that were found in a whole tenant.
--
-- Two legs, BM25 over words and inner products over vectors, are fused by reciprocal
-- rank; episodes are then weighted by how well they are still remembered. Each shelf
-- (kind of memory) is ranked by itself, with its own document statistics. A memory has
-- several units (an episode one a message); its rank in a leg is that of its best unit.
--
-- The words of a unit are a sparse vector: a first pass multiplies every unit's with the
-- question's, which is BM25 but for repeated words; the best of them (the pool) are then
-- scored exactly. Document frequencies are exact: a large shelf keeps its own, a small
-- one is read through.
--
-- in:  tenant uuid; shared bool (whether several conversations are searched), conversation uuid or
--      NULL (the only one); of several: owners uuid[] (a user's), owner uuid or NULL (the only
--      one, where his approximate index may serve), everyone bool (whatever the owner),
--      left_out uuid or NULL (a conversation), of_agent bool and homes uuid[] (these alone),
--      uncounted bool (the user's own statistics are not right now);
--      shelves text[], languages text[] (of the texts), language text (whose stop words do not
--      count), words text (prepared), model text, dim int, vector halfvec or NULL, category text or NULL,
--      depth int (memories a leg), fact_pool and episode_pool int (units a leg and shelf),
--      limits by shelf: fact_limit, episode_limit int; now timestamptz, factor and decay
--      float (of FSRS), as_of timestamptz (search what was true then) or NULL (what is believed
--      now), believed bool and known uuid[] (search these alone: what was believed at a moment), explain
--      and shown bool (whether `terms` and `shown` are wanted), line_limit int (single messages
--      at most), with_lines and with_states bool (whether any are wanted, and the states of their
--      tokens), meaning and headline float (weights of a message's cosine and of its episode's
--      headline in its score); timely bool (whether
--      the question names times), since and until timestamptz[] (these, without their ends),
--      narrow bool[] (which of them memories are found by)
-- out: memory_id uuid, shelf text, rank int (1 is best), score float, rrf float,
--      retrievability float, lexical_rank int or NULL, vector_rank int or NULL,
--      lexical_found int, vector_found int (memories in each leg of that shelf),
--      lines json or NULL ([seq, score, meaning, bytes] a message that is among the best
--      `line_limit`, best first: meaning its cosine's part of the score, without the weight;
--      bytes how many of `states` are its own, null: none),
--      terms text[] or NULL (lexemes of the query that the memory holds, with `explain`),
--      shown json or NULL (with `shown`, what markdown prints: of a fact category, text,
--      valid_at, number of episodes that support it; of an episode title, summary,
--      surprise, end_at), lexical_score float or NULL (BM25) and cosine float or NULL, of
--      the memory's best unit in each leg; newer uuid[] (facts that come along and seem to
--      contradict this one, by suggestions that nobody has decided on); states bytea or NULL (of
--      the lines, one behind the other, with `with_states`)
-- {within} narrows units and vectors to all of this, {counted} their statistics; {believed} to what
-- is believed at the moment asked about.
-- index: indexing_word_count_one_a_word; indexing_unit_words_of_owner and
--      indexing_vector_of_owner, index-only; for wide vectors indexing_vector_wide_of_owner; with
--      as_of indexing_unit_time_of_owner and indexing_vector_time_of_owner, with times the former;
--      semantic_suggestion_made_once; for single messages indexing_vector_one_a_model and
--      indexing_vector_headline
-- Parameters that say what is asked for come as literals, also in a plan that is kept:
-- `CASE WHEN NULL IS NULL …` is folded before a plan is chosen, so that partial indexes on
-- `invalid_at IS NULL` serve, and parts that nobody asked for are never run. An approximate
-- index is partial by shelf: facts and episodes are asked apart.
WITH
-- Named once: each mention would be read from its text anew.
aim AS MATERIALIZED (SELECT %(vector)s::halfvec AS vector),
known AS MATERIALIZED (SELECT unnest(%(known)s::uuid[]) AS id),
-- Whose entries are searched: a user's, or those of a conversation, its own and its users'.
scope AS MATERIALIZED (
    SELECT CASE WHEN %(shared)s THEN %(owners)s::uuid[] ELSE (
        SELECT array_agg(DISTINCT coalesce(user_scope, conversation_id)) || %(conversation)s::uuid
        FROM indexing_shelfsize
        WHERE tenant_id = %(tenant)s AND conversation_id = %(conversation)s
    ) END AS owners
),
-- The lexemes that the languages make of a word, `word` saying which one, are one word.
asked AS MATERIALIZED (
    SELECT lexeme, slot, word, (row_number() OVER (ORDER BY place, slot))::int - 1 AS place
    FROM (
        SELECT min(lexeme) AS lexeme, public.memory_slot(lexeme) AS slot, min(place) AS place,
            min(positions[1]) AS word
        FROM unnest(%(languages)s::text[]) AS spoken CROSS JOIN LATERAL
            unnest(public.memory_ts(spoken, %(words)s))
                WITH ORDINALITY AS lexeme (lexeme, positions, weights, place)
        WHERE spoken = %(language)s OR positions[1] IN (
            SELECT unnest(positions) FROM unnest(public.memory_ts(%(language)s, %(words)s))
        )
        GROUP BY public.memory_slot(lexeme)
        ORDER BY min(place), 2 LIMIT 1000
    ) AS word
),
-- One product tells which of 24 lexemes a unit holds: 2^24 is what a float4 counts to.
probe AS MATERIALIZED (
    SELECT place / 24 AS number,
        ('{' || string_agg(slot || ':' || (1 << place %% 24), ',') || '}/1000000000')::sparsevec
            AS weights
    FROM asked GROUP BY place / 24
),
shelf AS MATERIALIZED (
    SELECT shelf, sum(units)::float8 AS n,
        greatest(sum(lexemes)::float8 / sum(units)::float8, 1) AS average_dl,
        bool_and(counted) AS counted
    FROM indexing_shelfsize
    WHERE tenant_id = %(tenant)s AND {counted}
        AND shelf = ANY(%(shelves)s) AND %(as_of)s::timestamptz IS NULL
        AND NOT %(believed)s AND NOT %(uncounted)s
    GROUP BY shelf HAVING sum(units) > 0
    UNION ALL
    SELECT shelf, count(*)::float8, greatest(avg(dl), 1)::float8, FALSE
    FROM indexing_searchunit
    WHERE tenant_id = %(tenant)s AND {within}
        AND shelf = ANY(%(shelves)s) AND CASE
            WHEN %(believed)s THEN memory_id IN (SELECT id FROM known)
                AND (shelf = 'fact' OR valid_at <= coalesce(%(as_of)s::timestamptz, 'infinity'))
            WHEN %(as_of)s::timestamptz IS NULL THEN %(uncounted)s AND invalid_at IS NULL
            ELSE valid_at <= %(as_of)s::timestamptz
                AND coalesce(valid_until, 'infinity') > %(as_of)s::timestamptz
        END
    GROUP BY shelf
),
holding AS MATERIALIZED (
    SELECT shelf.shelf, probe.number, code::int, units::float8
    FROM shelf CROSS JOIN probe CROSS JOIN LATERAL (
        SELECT -(words <#> probe.weights) AS code, count(*) AS units FROM indexing_searchunit
        WHERE tenant_id = %(tenant)s AND {within}
            AND shelf = shelf.shelf
            AND {believed}
        GROUP BY code
    ) AS unit
    WHERE NOT shelf.counted
),
rarity AS MATERIALIZED (
    SELECT shelf, slot, lexeme, ln(1 + (n - df + 0.5::float8) / (df + 0.5::float8)) AS idf,
        ('{' || slot || ':1,' || slot + 1 || ':1}/1000000000')::sparsevec AS alone
    FROM (
        SELECT shelf, n, slot, lexeme, units,
            least(sum(units) OVER (PARTITION BY shelf, word), n) AS df
        FROM (
            SELECT shelf.shelf, n, slot, word, lexeme, CASE WHEN counted THEN (
                SELECT sum(units) FROM indexing_wordcount
                WHERE tenant_id = %(tenant)s AND {counted}
                    AND shelf = shelf.shelf AND slot = asked.slot
            ) ELSE (
                SELECT sum(units) FROM holding
                WHERE holding.shelf = shelf.shelf AND number = place / 24
                    AND code >> place %% 24 & 1 = 1
            ) END AS units
            FROM shelf CROSS JOIN asked
        ) AS held
    ) AS frequency
    WHERE units > 0
),
question AS MATERIALIZED (
    SELECT shelf, average_dl, 0.9::float8 / average_dl AS slope,
        ('{' || string_agg(slot || ':' || idf, ',') || '}/1000000000')::sparsevec AS words
    FROM rarity JOIN shelf USING (shelf) GROUP BY shelf, average_dl
),
-- The filter by category comes here: document frequencies are those of the whole shelf.
lexical_pool AS MATERIALIZED (
    SELECT unit.*, question.shelf, 1.2 * (0.25 + 0.75 * dl / average_dl) AS norm
    FROM question CROSS JOIN LATERAL (
        SELECT id AS unit_id, memory_id, dl, words, (words <#> question.words)
            / (1.3::float8 + question.slope * dl) AS distance
        FROM indexing_searchunit
        WHERE tenant_id = %(tenant)s AND {within}
            AND shelf = question.shelf
            AND {believed}
            AND (%(category)s::text IS NULL OR shelf <> 'fact' OR category = %(category)s::text)
        ORDER BY distance
        LIMIT CASE question.shelf WHEN 'fact' THEN %(fact_pool)s::int ELSE %(episode_pool)s::int END
    ) AS unit
    WHERE distance < 0
),
-- s is tf * 2.2 / (tf + 1.2), from which tf comes back as a whole number.
occurrence AS MATERIALIZED (
    SELECT unit_id, memory_id, shelf, lexeme, idf * tf * 2.2::float8 / (tf + norm) AS score
    FROM (
        SELECT unit_id, memory_id, shelf, norm, lexeme, idf,
            round(1.2::float8 * s / (2.2::float8 - s)) AS tf
        FROM (
            SELECT unit_id, memory_id, lexical_pool.shelf, norm, lexeme, idf,
                -(lexical_pool.words <#> rarity.alone) AS s
            FROM lexical_pool JOIN rarity USING (shelf)
            OFFSET 0
        ) AS product
        WHERE s > 0
    ) AS counted
),
lexical_unit AS MATERIALIZED (
    SELECT unit_id, memory_id, shelf, sum(score) AS score
    FROM occurrence GROUP BY unit_id, memory_id, shelf
),
lexical AS (
    SELECT * FROM (
        SELECT memory_id, shelf, max(score) AS score, row_number() OVER (
            -- Of equals in a budget the newer first: ids grow with time.
            PARTITION BY shelf ORDER BY max(score) DESC,
                CASE WHEN NOT %(with_lines)s THEN memory_id END, memory_id DESC
        ) AS rank
        FROM lexical_unit GROUP BY memory_id, shelf
    ) AS ranked WHERE rank <= %(depth)s
),
near AS MATERIALIZED (
    SELECT shelf FROM indexing_vectorindex
    WHERE tenant_id = %(tenant)s AND CASE WHEN %(shared)s
            THEN conversation_id IS NULL AND user_scope = %(owner)s::uuid
            ELSE conversation_id = %(conversation)s AND user_scope IS NULL
        END
        AND %(as_of)s::timestamptz IS NULL AND NOT %(believed)s
        AND shelf = ANY(%(shelves)s) AND model = %(model)s AND dim = %(dim)s
        AND %(category)s::text IS NULL AND (SELECT vector FROM aim) IS NOT NULL
),
vector_unit AS MATERIALIZED (
    SELECT unit.*, shelf.shelf
    FROM (
        SELECT unnest(%(shelves)s::text[]) AS shelf EXCEPT SELECT shelf FROM near
    ) AS shelf CROSS JOIN LATERAL (
        SELECT unit_id, memory_id, embedding <#> (SELECT vector FROM aim) AS distance
        FROM indexing_searchvector
        WHERE tenant_id = %(tenant)s AND {within}
            AND shelf = shelf.shelf AND model = %(model)s AND dim = %(dim)s
            AND {believed}
            AND (%(category)s::text IS NULL OR shelf <> 'fact' OR category = %(category)s::text)
        -- Adding nothing keeps the planner off an approximate index.
        ORDER BY (embedding <#> (SELECT vector FROM aim)) + 0
        LIMIT CASE shelf.shelf WHEN 'fact' THEN %(fact_pool)s::int ELSE %(episode_pool)s::int END
    ) AS unit
    WHERE (SELECT vector FROM aim) IS NOT NULL
    UNION ALL (
        SELECT unit_id, memory_id,
            embedding::halfvec(%(dim)s) <#> (SELECT vector FROM aim) AS distance, 'fact'
        FROM indexing_searchvector
        WHERE tenant_id = %(tenant)s AND CASE WHEN %(shared)s
                THEN CASE WHEN user_scope IS NULL THEN conversation_id ELSE user_scope END
                        = %(owner)s::uuid
                    AND conversation_id IS DISTINCT FROM %(left_out)s::uuid
                ELSE conversation_id = %(conversation)s
            END
            AND shelf = 'fact' AND model = %(model)s AND dim = %(dim)s AND invalid_at IS NULL
            AND (SELECT TRUE FROM near WHERE shelf = 'fact')
        ORDER BY distance LIMIT %(fact_pool)s
    )
    UNION ALL (
        SELECT unit_id, memory_id,
            embedding::halfvec(%(dim)s) <#> (SELECT vector FROM aim) AS distance, 'episode'
        FROM indexing_searchvector
        WHERE tenant_id = %(tenant)s AND CASE WHEN %(shared)s
                THEN CASE WHEN user_scope IS NULL THEN conversation_id ELSE user_scope END
                        = %(owner)s::uuid
                    AND conversation_id IS DISTINCT FROM %(left_out)s::uuid
                ELSE conversation_id = %(conversation)s
            END
            AND shelf = 'episode' AND model = %(model)s AND dim = %(dim)s AND invalid_at IS NULL
            AND (SELECT TRUE FROM near WHERE shelf = 'episode')
        ORDER BY distance LIMIT %(episode_pool)s
    )
),
vector AS (
    SELECT * FROM (
        SELECT memory_id, shelf, -min(distance) AS cosine, row_number() OVER (
            PARTITION BY shelf ORDER BY min(distance),
                CASE WHEN NOT %(with_lines)s THEN memory_id END, memory_id DESC
        ) AS rank
        FROM vector_unit GROUP BY memory_id, shelf
    ) AS ranked WHERE rank <= %(depth)s
),
-- The third leg: what is of the times that the question names, however few words they share; where
-- that is much, the newest of it.
timely_unit AS MATERIALIZED (
    SELECT unit.*, shelf.shelf, (
        SELECT embedding <#> (SELECT vector FROM aim) FROM indexing_searchvector
        WHERE unit_id = unit.unit_id AND model = %(model)s AND tenant_id = %(tenant)s
    ) AS distance
    FROM unnest(%(shelves)s::text[]) AS shelf (shelf) CROSS JOIN LATERAL (
        SELECT unit.unit_id, unit.memory_id
        FROM unnest(%(since)s::timestamptz[], %(until)s::timestamptz[], %(narrow)s::bool[])
            AS span (since, until, narrow)
        CROSS JOIN LATERAL (
            SELECT id AS unit_id, memory_id, valid_at FROM indexing_searchunit
            WHERE tenant_id = %(tenant)s AND {within}
                AND valid_at >= span.since AND valid_at < span.until
                AND shelf = shelf.shelf AND kind IN ('fact', 'message')
                AND {believed}
                AND (%(category)s::text IS NULL OR shelf <> 'fact' OR category = %(category)s::text)
            ORDER BY valid_at DESC LIMIT %(episode_pool)s
        ) AS unit
        WHERE %(timely)s AND span.narrow
        ORDER BY unit.valid_at DESC LIMIT %(episode_pool)s
    ) AS unit
),
timely AS (
    SELECT * FROM (
        SELECT memory_id, shelf, row_number() OVER (
            PARTITION BY shelf ORDER BY min(distance), memory_id DESC
        ) AS rank
        FROM timely_unit GROUP BY memory_id, shelf
    ) AS ranked WHERE rank <= %(depth)s
),
fused AS (
    SELECT memory_id, shelf, lexical.rank AS lexical_rank, vector.rank AS vector_rank,
        lexical.score AS lexical_score, vector.cosine,
        -- The specification's k. On LoCoMo 5 to 60 are within .002 of R@5, weights within .013.
        coalesce(1.0 / (60 + lexical.rank), 0) + coalesce(1.0 / (60 + vector.rank), 0)
            + coalesce(1.0 / (60 + timely.rank), 0) AS rrf,
        count(lexical.rank) OVER (PARTITION BY shelf) AS lexical_found,
        count(vector.rank) OVER (PARTITION BY shelf) AS vector_found
    FROM lexical FULL JOIN vector USING (memory_id, shelf)
        FULL JOIN timely USING (memory_id, shelf)
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
    -- Of another one's conversation a user has the messages that name him, never the episode.
    WHERE CASE WHEN %(shared)s AND NOT %(everyone)s AND NOT %(with_lines)s
        THEN episode.id IS NULL OR episode.conversation_id = ANY(%(homes)s::uuid[]) ELSE TRUE
    END
),
best AS MATERIALIZED (
    SELECT * FROM (
        SELECT *, row_number() OVER (
            PARTITION BY shelf ORDER BY rrf * retrievability DESC,
                CASE WHEN NOT %(with_lines)s THEN memory_id END, memory_id DESC
        ) AS rank
        FROM weighted
    ) AS ranked
    WHERE rank <= CASE shelf WHEN 'fact' THEN %(fact_limit)s::int ELSE %(episode_limit)s::int END
),
-- Single messages of the pools that deserve a place in a budget, where `line_limit` asks for
-- any. Deviations are added, not ranks: how far a message stands out counts. Where no vectors
-- are there, only messages with a word in common match.
pooled AS MATERIALIZED (
    SELECT unit_id, words, coalesce(directed.cosine, dated.cosine) AS cosine
    FROM (
        SELECT unit_id, score AS words FROM lexical_unit WHERE shelf = 'episode' AND %(with_lines)s
    ) AS worded
    FULL JOIN (
        SELECT unit_id, -distance AS cosine
        FROM vector_unit WHERE shelf = 'episode' AND %(with_lines)s
    ) AS directed USING (unit_id)
    FULL JOIN (
        SELECT unit_id, -distance AS cosine FROM timely_unit WHERE shelf = 'episode'
    ) AS dated USING (unit_id)
),
message AS MATERIALIZED (
    SELECT memory_id, seq, max(words) AS words, max(cosine) AS cosine, array_agg(unit_id) AS units,
        bool_or(%(timely)s AND EXISTS (
            SELECT FROM unnest(%(since)s::timestamptz[], %(until)s::timestamptz[])
                AS span (since, until)
            WHERE valid_at >= since AND valid_at < until
        )) AS is_timely
    FROM (
        SELECT memory_id, seq, unit_id, valid_at, coalesce(pooled.words, 0) AS words, coalesce(cosine, (
            SELECT -(embedding <#> (SELECT vector FROM aim)) FROM indexing_searchvector
            WHERE unit_id = pooled.unit_id AND model = %(model)s AND tenant_id = %(tenant)s
        )) AS cosine
        FROM pooled CROSS JOIN LATERAL (
            SELECT memory_id, first_seq AS seq, valid_at FROM indexing_searchunit
            WHERE id = unit_id AND tenant_id = %(tenant)s AND kind = 'message' AND %(with_lines)s
            LIMIT 1
        ) AS unit
    ) AS unit
    GROUP BY memory_id, seq
),
-- How many messages there are, the planner does not foresee: a headline finds its messages by
-- a window, where a join would compare each with each.
titled_message AS (
    SELECT memory_id, seq, words, cosine, units, is_timely,
        max(headline) OVER (PARTITION BY memory_id) AS headline
    FROM (
        SELECT *, NULL::float8 AS headline FROM message
        UNION ALL
        SELECT memory_id, NULL, NULL, NULL, NULL, NULL, -(embedding <#> (SELECT vector FROM aim))
        FROM indexing_searchvector
        WHERE tenant_id = %(tenant)s AND kind = 'episode' AND model = %(model)s
            AND memory_id IN (SELECT memory_id FROM message)
    ) AS beside
),
deviating AS (
    SELECT memory_id, seq, units, is_timely,
        words > 0 OR cosine IS NOT NULL OR is_timely AS matches,
        coalesce((words - avg(words) OVER everything)
            / nullif(stddev_pop(words) OVER everything, 0), 0) AS words,
        coalesce((cosine - avg(cosine) OVER everything)
            / nullif(stddev_pop(cosine) OVER everything, 0), 0) AS meaning,
        coalesce((headline - avg(headline) OVER everything)
            / nullif(stddev_pop(headline) OVER everything, 0), 0) AS headline
    FROM titled_message WHERE seq IS NOT NULL
    WINDOW everything AS ()
),
standing_out AS (
    SELECT *, words + %(meaning)s * meaning + %(headline)s * headline AS score FROM deviating
),
line AS (
    SELECT memory_id, json_agg(
        json_build_array(seq, score, meaning, octet_length(states)) ORDER BY score DESC, seq DESC
    ) AS lines, string_agg(states, '' ORDER BY score DESC, seq DESC) AS states
    FROM (
        SELECT memory_id, seq, score, meaning, CASE WHEN %(with_states)s THEN (
            SELECT states FROM indexing_searchvector
            WHERE unit_id = ANY(units) AND model = %(model)s AND tenant_id = %(tenant)s
                AND states IS NOT NULL
            LIMIT 1
        ) END AS states
        FROM (
            SELECT *, row_number() OVER (
                PARTITION BY is_timely ORDER BY score DESC, seq DESC
            ) AS place
            FROM standing_out
            -- An array, not a join: hundreds of messages would be joined in a nested loop.
            WHERE matches AND memory_id = ANY((SELECT array_agg(memory_id) FROM best)::uuid[])
        ) AS matching
        -- Half of the lines are kept for the times that the question names.
        ORDER BY is_timely AND place <= %(line_limit)s / 2 DESC, score DESC, seq DESC
        LIMIT %(line_limit)s  -- also a bound, without which each state would be looked up twice
    ) AS chosen
    GROUP BY memory_id
)
SELECT memory_id, shelf, rank, (rrf * retrievability)::float8 AS score, rrf::float8,
    retrievability::float8, lexical_rank, vector_rank, lexical_found, vector_found, lines,
    CASE WHEN %(explain)s THEN ARRAY(
        SELECT DISTINCT lexeme FROM occurrence
        WHERE occurrence.memory_id = best.memory_id ORDER BY lexeme
    ) END AS terms,
    CASE WHEN NOT %(shown)s THEN NULL WHEN shelf = 'fact' THEN (
        SELECT json_build_array(category, fact, valid_at, (
            SELECT count(*) FROM semantic_evidence
            WHERE fact_id = semantic_fact.id AND tenant_id = %(tenant)s AND withdrawn_by_id IS NULL
                AND (%(shared)s OR %(conversation)s = coalesce(
                    semantic_evidence.conversation_id, semantic_fact.conversation_id
                ))
        ))
        FROM semantic_fact WHERE id = best.memory_id AND tenant_id = %(tenant)s
    ) ELSE (
        SELECT json_build_array(title, summary, surprise, end_at)
        FROM episodic_episode WHERE id = best.memory_id AND tenant_id = %(tenant)s
    ) END AS shown, lexical_score::float8, cosine::float8,
    ARRAY(
        SELECT new_fact_id FROM semantic_suggestion
        WHERE tenant_id = %(tenant)s AND old_fact_id = best.memory_id AND kind = 'contradiction'
            AND NOT is_withdrawn AND (decision = '' OR is_reopened)
            AND new_fact_id IN (SELECT memory_id FROM best)
    ) AS newer, states
FROM best LEFT JOIN line USING (memory_id)
ORDER BY shelf, rank
