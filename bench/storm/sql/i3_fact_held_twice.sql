-- I3: sentences that a conversation holds more than once, case and spaces aside.
--
-- in:  nothing
-- out: text, one row a sentence
SELECT format('%s times: %s', count(*), left(min(fact), 60))
FROM semantic_fact
WHERE invalid_at IS NULL
GROUP BY conversation_id, lower(regexp_replace(btrim(fact, ' .'), '\s+', ' ', 'g'))
HAVING count(*) > 1
