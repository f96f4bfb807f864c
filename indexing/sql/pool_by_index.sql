-- A part of tenant_words.sql: the units that the index of terms names, and of these the best.
--
-- in:  those of tenant_words.sql; {narrowed}
-- out: pool (tenant_id, id uuid), at most `pool` of them, those with the most words first
-- index: indexing_unit_by_terms
candidate AS MATERIALIZED (
    SELECT unit.tenant_id, unit.id
    FROM (
        SELECT terms, array_agg(language) AS languages FROM asked WHERE %(every)s GROUP BY terms
        UNION ALL SELECT ARRAY[term], array_agg(language)
        FROM asked CROSS JOIN unnest(terms) AS term WHERE NOT %(every)s GROUP BY term
    ) AS wanted
    CROSS JOIN LATERAL (
        SELECT tenant_id, id FROM indexing_searchunit
        WHERE public.memory_terms(kind, language, lexical_text, own_words) @> wanted.terms
            AND language = ANY(wanted.languages) AND {narrowed}
        LIMIT %(candidates)s
    ) AS unit
),
pool AS MATERIALIZED (
    SELECT tenant_id, id FROM candidate
    WHERE NOT %(walks)s OR (SELECT count(*) FROM candidate) < %(candidates)s
    GROUP BY tenant_id, id ORDER BY count(*) DESC, id DESC LIMIT %(pool)s
)
