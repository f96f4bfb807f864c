-- A part of load.sql: what hybrid.sql finds, so that one statement finds and loads.
--
-- in:  as hybrid.sql
-- out: found (its rows); given: facts uuid[], episodes uuid[] best first (all, or those with
--      messages that match), seqs bigint[] (these messages)
-- index: those of hybrid.sql
WITH
found AS MATERIALIZED ({hybrid}),
given AS MATERIALIZED (
    SELECT coalesce(array_agg(memory_id) FILTER (WHERE shelf = 'fact'), '{}') AS facts,
        coalesce(array_agg(memory_id ORDER BY rank) FILTER (
            WHERE shelf = 'episode' AND (%(whole)s OR lines IS NOT NULL)
        ), '{}') AS episodes,
        ARRAY(
            SELECT (line ->> 0)::bigint FROM found CROSS JOIN json_array_elements(lines) AS line
        ) AS seqs
    FROM found
)
