-- A part of tenant_words.sql: the newest units that hold the words, found by walking back.
--
-- in:  those of tenant_words.sql; {narrowed}, and {of_tenant} to walk a tenant's units alone
-- out: pool (id uuid), at most `pool` of them
-- index: indexing_searchunit_tenant_id with {of_tenant}, else the primary key
candidate AS MATERIALIZED (
    SELECT unit.id
    FROM (
        SELECT * FROM indexing_searchunit
        WHERE kind = %(kind)s{of_tenant}
        ORDER BY id DESC LIMIT %(walked)s
    ) AS unit JOIN asked ON asked.language = unit.language
    WHERE unit.words <#> asked.probe <= -asked.slots AND {narrowed}
        AND asked.lexemes <@ tsvector_to_array(public.memory_ts(
            unit.language, public.memory_own(lexical_text, own_words)
        ))
    LIMIT %(pool)s
),
pool AS (SELECT id FROM candidate)
