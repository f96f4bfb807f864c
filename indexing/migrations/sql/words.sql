-- From words to a sparse vector that one product can score, and to the terms of an index.
--
-- Two slots for each hash of a lexeme: the first weighs 1 where the lexeme is there, the
-- second what repeating it adds to BM25's saturation at a length of average. An index row
-- holds about 300 numbers; what comes later in a text that has more is left out, so callers
-- cut long texts before.
-- hashtext is stable within a server, and questions are hashed by the same function.
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
-- A term is a word's slot, told apart by the kind of the unit, so that an index over all
-- units answers for one kind without reading the others.
-- None is STRICT: what is inlined costs a third.
CREATE FUNCTION public.memory_term(kind text, lexeme text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (public.memory_slot(lexeme) + CASE WHEN kind IN ('fact', 'message') THEN 0 ELSE 1 END)
        * CASE WHEN kind IN ('fact', 'episode') THEN 1 ELSE -1 END
$$;
CREATE FUNCTION public.memory_own(content text, own_words integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN own_words IS NULL THEN content ELSE pg_catalog.array_to_string(
        (pg_catalog.string_to_array(content, ' '))[1:own_words], ' '
    ) END
$$;
CREATE FUNCTION public.memory_terms(
    kind text, language text, content text, own_words integer
) RETURNS integer[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(public.memory_term(kind, lexeme)), '{}')
    FROM pg_catalog.unnest(pg_catalog.tsvector_to_array(
        public.memory_ts(language, public.memory_own(content, own_words))
    )) AS lexeme
$$;
