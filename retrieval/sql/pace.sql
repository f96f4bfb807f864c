-- How many answers a tenant got in each span of time, and how long they took.
--
-- in:  tenant uuid; starts, ends timestamptz[]; at_most int: the newest of each span are counted
-- out: place int from 1, answers int, p50 and p95 int in ms or NULL: none was measured;
--      a row for each span
-- index: retrieval_with_latency, alone
SELECT span.place, paced.answers, paced.p50, paced.p95
FROM unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[])
    WITH ORDINALITY AS span (first, next, place)
CROSS JOIN LATERAL (
    SELECT
        count(*) AS answers,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY newest.latency_ms) AS p50,
        percentile_disc(0.95) WITHIN GROUP (ORDER BY newest.latency_ms) AS p95
    FROM (
        SELECT receipt.latency_ms
        FROM retrieval_retrieval AS receipt
        WHERE
            receipt.tenant_id = %(tenant)s
            AND receipt.created_at >= span.first AND receipt.created_at < span.next
        ORDER BY receipt.created_at DESC
        LIMIT %(at_most)s
    ) AS newest
) AS paced
ORDER BY span.place
