-- The versions of one fact: what it replaced and what replaced it, step by step, itself included.
--
-- in:  tenant uuid, fact uuid, at_most int (generations each way)
-- out: id uuid, oldest first
-- index: semantic_fact_pkey, and the one on superseded_by_id
-- A newer version has the higher id; one fact may have replaced several.
WITH RECURSIVE older AS (
    SELECT id, 0 AS generation FROM semantic_fact WHERE tenant_id = %(tenant)s AND id = %(fact)s
    UNION
    SELECT fact.id, older.generation + 1
    FROM older
    JOIN semantic_fact AS fact ON fact.superseded_by_id = older.id
    WHERE fact.tenant_id = %(tenant)s AND older.generation < %(at_most)s
),
newer AS (
    SELECT id, superseded_by_id, 0 AS generation
    FROM semantic_fact
    WHERE tenant_id = %(tenant)s AND id = %(fact)s
    UNION
    SELECT fact.id, fact.superseded_by_id, newer.generation + 1
    FROM newer
    JOIN semantic_fact AS fact ON fact.id = newer.superseded_by_id
    WHERE fact.tenant_id = %(tenant)s AND newer.generation < %(at_most)s
)
SELECT id FROM older UNION SELECT id FROM newer ORDER BY id
