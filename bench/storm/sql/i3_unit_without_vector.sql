-- I3: units of the index that have no vector, or two: the storm's texts fit into one each.
--
-- in:  nothing
-- out: text, one row a unit
SELECT format('unit %s of a %s: %s vectors', u.id, u.kind, count(v.id))
FROM indexing_searchunit u
LEFT JOIN indexing_searchvector v ON v.unit_id = u.id
GROUP BY u.id, u.kind
HAVING count(v.id) <> 1
