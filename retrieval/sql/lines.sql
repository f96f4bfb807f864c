-- A part of hybrid.sql: the single messages of both pools that deserve a place in a budget.
--
-- Deviations are added, not ranks: how far a message stands out counts. Where no vectors
-- are there, only messages with a word in common match.
--
-- in:  line_limit int (messages at most), headline float (weight of the headline's
--      likeness), tenant uuid, model text, vector halfvec or NULL; the pools lexical_unit
--      and vector_unit, the memories `best`
-- out: line(memory_id uuid, lines json: [seq, score] a message, best first)
-- index: primary keys of both tables, indexing_vector_one_a_model, indexing_vector_headline
WITH
candidate AS MATERIALIZED (
    SELECT unit.memory_id, unit.first_seq AS seq,
        coalesce(lexical_unit.score, 0) AS words, -coalesce(vector_unit.distance, (
            SELECT embedding <#> (SELECT vector FROM aim) FROM indexing_searchvector
            WHERE unit_id = unit.id AND model = %(model)s AND tenant_id = %(tenant)s
        )) AS cosine
    FROM (
        SELECT unit_id FROM lexical_unit WHERE shelf = 'episode'
        UNION SELECT unit_id FROM vector_unit WHERE shelf = 'episode'
    ) AS pooled
    JOIN indexing_searchunit AS unit ON unit.id = pooled.unit_id
    LEFT JOIN lexical_unit USING (unit_id)
    LEFT JOIN vector_unit USING (unit_id)
    WHERE unit.tenant_id = %(tenant)s AND unit.kind = 'message'
),
message AS MATERIALIZED (
    SELECT memory_id, seq, max(words) AS words, max(cosine) AS cosine
    FROM candidate GROUP BY memory_id, seq
),
headline AS (
    SELECT memory_id, -(embedding <#> (SELECT vector FROM aim)) AS cosine
    FROM indexing_searchvector
    WHERE tenant_id = %(tenant)s AND kind = 'episode' AND model = %(model)s
        AND memory_id IN (SELECT memory_id FROM message)
),
standing_out AS (
    SELECT memory_id, seq, words > 0 OR message.cosine IS NOT NULL AS matches,
        coalesce((words - avg(words) OVER everything)
            / nullif(stddev_pop(words) OVER everything, 0), 0)
        + coalesce((message.cosine - avg(message.cosine) OVER everything)
            / nullif(stddev_pop(message.cosine) OVER everything, 0), 0)
        + %(headline)s * coalesce((headline.cosine - avg(headline.cosine) OVER everything)
            / nullif(stddev_pop(headline.cosine) OVER everything, 0), 0) AS score
    FROM message LEFT JOIN headline USING (memory_id)
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
