-- I2: texts stored more than once; every message of the storm says something of its own.
--
-- in:  nothing
-- out: text, one row a text
SELECT format('%s times: %s', count(*), left(content, 60))
FROM episodic_message
GROUP BY content
HAVING count(*) > 1
