-- The bucket of the 95th percentile of the latencies of a key; part of a statement that reads keys.
--
-- in:  the first day, date
-- out: the place of the bucket, from 0 on; NULL where the key has called nothing
-- index: tenancy_keyusage_one_a_day
SELECT min(bucket.place) - 1
FROM (
    SELECT
        both_.place,
        sum(sum(both_.count)) OVER (ORDER BY both_.place) AS up_to,
        sum(sum(both_.count)) OVER () AS total
    FROM tenancy_keyusage AS usage
    CROSS JOIN LATERAL unnest(usage.latencies) WITH ORDINALITY AS both_ (count, place)
    WHERE
        usage.tenant_id = tenancy_apikey.tenant_id
        AND usage.key_id = tenancy_apikey.id
        AND usage.day >= %s
    GROUP BY both_.place
) AS bucket
WHERE bucket.total > 0 AND bucket.up_to >= 0.95 * bucket.total
