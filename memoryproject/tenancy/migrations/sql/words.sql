-- From a text to its lexemes, their number, and what of a fact is searched.
-- A column of type regconfig would block pg_upgrade, hence text and CASE. The names are
-- written out: a function in a generated column may not depend on search_path.
CREATE FUNCTION public.memory_ts(language text, content text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE language
        WHEN 'arabic' THEN pg_catalog.to_tsvector('pg_catalog.arabic'::regconfig, content)
        WHEN 'armenian' THEN pg_catalog.to_tsvector('pg_catalog.armenian'::regconfig, content)
        WHEN 'basque' THEN pg_catalog.to_tsvector('pg_catalog.basque'::regconfig, content)
        WHEN 'catalan' THEN pg_catalog.to_tsvector('pg_catalog.catalan'::regconfig, content)
        WHEN 'danish' THEN pg_catalog.to_tsvector('pg_catalog.danish'::regconfig, content)
        WHEN 'dutch' THEN pg_catalog.to_tsvector('pg_catalog.dutch'::regconfig, content)
        WHEN 'english' THEN pg_catalog.to_tsvector('pg_catalog.english'::regconfig, content)
        WHEN 'finnish' THEN pg_catalog.to_tsvector('pg_catalog.finnish'::regconfig, content)
        WHEN 'french' THEN pg_catalog.to_tsvector('pg_catalog.french'::regconfig, content)
        WHEN 'german' THEN pg_catalog.to_tsvector('pg_catalog.german'::regconfig, content)
        WHEN 'greek' THEN pg_catalog.to_tsvector('pg_catalog.greek'::regconfig, content)
        WHEN 'hindi' THEN pg_catalog.to_tsvector('pg_catalog.hindi'::regconfig, content)
        WHEN 'hungarian' THEN pg_catalog.to_tsvector('pg_catalog.hungarian'::regconfig, content)
        WHEN 'indonesian' THEN pg_catalog.to_tsvector('pg_catalog.indonesian'::regconfig, content)
        WHEN 'irish' THEN pg_catalog.to_tsvector('pg_catalog.irish'::regconfig, content)
        WHEN 'italian' THEN pg_catalog.to_tsvector('pg_catalog.italian'::regconfig, content)
        WHEN 'lithuanian' THEN pg_catalog.to_tsvector('pg_catalog.lithuanian'::regconfig, content)
        WHEN 'nepali' THEN pg_catalog.to_tsvector('pg_catalog.nepali'::regconfig, content)
        WHEN 'norwegian' THEN pg_catalog.to_tsvector('pg_catalog.norwegian'::regconfig, content)
        WHEN 'portuguese' THEN pg_catalog.to_tsvector('pg_catalog.portuguese'::regconfig, content)
        WHEN 'romanian' THEN pg_catalog.to_tsvector('pg_catalog.romanian'::regconfig, content)
        WHEN 'russian' THEN pg_catalog.to_tsvector('pg_catalog.russian'::regconfig, content)
        WHEN 'serbian' THEN pg_catalog.to_tsvector('pg_catalog.serbian'::regconfig, content)
        WHEN 'spanish' THEN pg_catalog.to_tsvector('pg_catalog.spanish'::regconfig, content)
        WHEN 'swedish' THEN pg_catalog.to_tsvector('pg_catalog.swedish'::regconfig, content)
        WHEN 'tamil' THEN pg_catalog.to_tsvector('pg_catalog.tamil'::regconfig, content)
        WHEN 'turkish' THEN pg_catalog.to_tsvector('pg_catalog.turkish'::regconfig, content)
        WHEN 'yiddish' THEN pg_catalog.to_tsvector('pg_catalog.yiddish'::regconfig, content)
        ELSE pg_catalog.to_tsvector('pg_catalog.simple'::regconfig, content)
    END
$$;
CREATE FUNCTION public.memory_dl(language text, content text) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(sum(cardinality(positions)), 0)::integer
    FROM pg_catalog.unnest(public.memory_ts(language, content))
$$;
CREATE FUNCTION public.memory_search_text(fact text, keywords text[]) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT fact || ' ' || pg_catalog.array_to_string(keywords, ' ')
$$;
