-- How many rows of one table a tenant got in each span of time, none counted beyond a cap.
--
-- The ids of rows begin with the time at which they were made, so that a span of time is a
-- range of ids: no table needs an index by time for this.
-- in:  tenant uuid; firsts, nexts uuid[]: the least id of each span, and of what follows it;
--      at_most int
-- out: place int from 1, count int; a row for each span
-- index: the primary key that every table of tenants has: (tenant_id, id)
SELECT span.place, counted.count
FROM unnest(%(firsts)s::uuid[], %(nexts)s::uuid[]) WITH ORDINALITY AS span (first, next, place)
CROSS JOIN LATERAL (
    SELECT count(*) AS count
    FROM (
        SELECT FROM {table} AS owned
        WHERE owned.tenant_id = %(tenant)s AND owned.id >= span.first AND owned.id < span.next
        LIMIT %(at_most)s
    ) AS capped
) AS counted
ORDER BY span.place
