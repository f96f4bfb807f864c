-- A part of tenant_words.sql: the newest units that hold the words, found by walking back.
--
-- in:  those of tenant_words.sql; {narrowed}, and {of_tenant} to walk a tenant's units alone
-- out: pool (tenant_id, id uuid), at most `pool` of them
-- index: the primary key with {of_tenant}, else indexing_searchunit_by_id
candidate AS MATERIALIZED (
    SELECT unit.tenant_id, unit.id
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
pool AS (SELECT tenant_id, id FROM candidate)
