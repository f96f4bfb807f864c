-- I3: facts that nothing supports.
--
-- in:  nothing
-- out: text, one row a fact
SELECT format('fact %s', f.id)
FROM semantic_fact f
WHERE NOT EXISTS (SELECT FROM semantic_evidence v WHERE v.fact_id = f.id)
