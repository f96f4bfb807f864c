"""From words to a sparse vector that one product can score.

Two slots for each hash of a lexeme: the first weighs 1 where the lexeme is there, the
second what repeating it adds to BM25's saturation at a length of average. An index row
holds about 300 numbers; what comes later in a text that has more is left out, so callers
cut long texts before.
"""

from django.db import migrations

# hashtext is stable within a server, and questions are hashed by the same function.
CREATE = """
CREATE FUNCTION public.memory_slot(lexeme text) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT 1 + 2 * ((pg_catalog.hashtext(lexeme) & 2147483647) % 499999999)
$$;
CREATE FUNCTION public.memory_words(language text, content text) RETURNS public.sparsevec
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT ('{' || coalesce(string_agg(slot || ':1' || CASE
        WHEN tf > 1 THEN ',' || slot + 1 || ':' || tf * 2.2::float8 / (tf + 1.2::float8) - 1
        ELSE '' END, ','), '') || '}/1000000000')::public.sparsevec
    FROM (
        SELECT slot, max(tf) AS tf
        FROM (
            SELECT public.memory_slot(lexeme) AS slot, cardinality(positions) AS tf,
                sum(CASE WHEN cardinality(positions) > 1 THEN 2 ELSE 1 END)
                    OVER (ORDER BY positions[1], lexeme) AS filled
            FROM pg_catalog.unnest(public.memory_ts(language, content))
        ) AS placed
        WHERE filled <= 300
        GROUP BY slot
    ) AS counted
$$;
"""
DROP = """
DROP FUNCTION public.memory_words(text, text);
DROP FUNCTION public.memory_slot(text);
"""


class Migration(migrations.Migration):
    dependencies = [("indexing", "0003_scope_by_time")]
    operations = [migrations.RunSQL(CREATE, DROP)]
