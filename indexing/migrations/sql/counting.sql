-- How much a conversation's shelf holds, kept by triggers on units, whoever writes them.
--
-- Each statement names one tenant, in a variable: so it is answered where his rows lie.
-- A shelf's own row is written first, so that two writers to one shelf wait for each other.
-- When a conversation's shelf grows large its words are counted once; from then on only what
-- changes is. A size may fall to zero and stays.
CREATE TYPE public.memory_unit AS (
    tenant_id uuid, conversation_id uuid, shelf text, id uuid, dl integer, language text,
    lexical_text text
);
CREATE FUNCTION public.memory_count_words(tenant uuid, conversation uuid, of_shelf text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.indexing_wordcount (id, tenant_id, conversation_id, shelf, slot, units)
    SELECT gen_random_uuid(), tenant, conversation, of_shelf, slot, count(*)
    FROM (
        SELECT DISTINCT unit.id, public.memory_slot(lexeme) AS slot
        FROM public.indexing_searchunit AS unit CROSS JOIN LATERAL
            pg_catalog.unnest(public.memory_ts(unit.language, unit.lexical_text))
        WHERE unit.tenant_id = tenant AND unit.conversation_id = conversation
            AND unit.shelf = of_shelf AND unit.invalid_at IS NULL
    ) AS word
    GROUP BY slot;
    UPDATE public.indexing_shelfsize SET counted = TRUE
    WHERE tenant_id = tenant AND conversation_id = conversation AND shelf = of_shelf;
END $$;
CREATE FUNCTION public.memory_add_units(sign integer, changed public.memory_unit[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    whose uuid;
    large record;
BEGIN
    FOR whose IN SELECT DISTINCT tenant_id FROM unnest(changed) ORDER BY tenant_id LOOP
        INSERT INTO public.indexing_shelfsize AS size
            (id, tenant_id, conversation_id, shelf, units, lexemes, counted)
        SELECT gen_random_uuid(), whose, conversation_id, shelf,
            sign * count(*), sign * sum(dl), FALSE
        FROM unnest(changed) WHERE tenant_id = whose
        GROUP BY conversation_id, shelf ORDER BY conversation_id, shelf
        ON CONFLICT (tenant_id, conversation_id, shelf) DO UPDATE
        SET units = size.units + excluded.units, lexemes = size.lexemes + excluded.lexemes;
        INSERT INTO public.indexing_wordcount AS held
            (id, tenant_id, conversation_id, shelf, slot, units)
        SELECT gen_random_uuid(), whose, conversation_id, shelf, slot, sign * count(*)
        FROM (
            SELECT DISTINCT size.conversation_id, size.shelf, unit.id,
                public.memory_slot(lexeme) AS slot
            FROM unnest(changed) AS unit
            JOIN public.indexing_shelfsize AS size ON size.tenant_id = whose
                AND size.conversation_id = unit.conversation_id AND size.shelf = unit.shelf
                AND size.counted
            CROSS JOIN LATERAL
                pg_catalog.unnest(public.memory_ts(unit.language, unit.lexical_text))
            WHERE unit.tenant_id = whose
        ) AS word
        GROUP BY conversation_id, shelf, slot ORDER BY conversation_id, shelf, slot
        ON CONFLICT (tenant_id, conversation_id, shelf, slot) DO UPDATE
        SET units = held.units + excluded.units;
        FOR large IN
            SELECT size.conversation_id, size.shelf
            FROM (SELECT DISTINCT conversation_id, shelf FROM unnest(changed)
                  WHERE tenant_id = whose) AS scope
            JOIN public.indexing_shelfsize AS size USING (conversation_id, shelf)
            WHERE size.tenant_id = whose AND size.units >= 2000 AND NOT size.counted
        LOOP
            PERFORM public.memory_count_words(whose, large.conversation_id, large.shelf);
        END LOOP;
    END LOOP;
END $$;
CREATE FUNCTION public.memory_count_units() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM public.memory_add_units(-1, array_agg(
            ROW(tenant_id, conversation_id, shelf, id, dl, language, lexical_text)
            ::public.memory_unit))
        FROM old_units WHERE invalid_at IS NULL HAVING count(*) > 0;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM public.memory_add_units(1, array_agg(
            ROW(tenant_id, conversation_id, shelf, id, dl, language, lexical_text)
            ::public.memory_unit))
        FROM new_units WHERE invalid_at IS NULL HAVING count(*) > 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER indexing_unit_added AFTER INSERT ON indexing_searchunit
    REFERENCING NEW TABLE AS new_units
    FOR EACH STATEMENT EXECUTE FUNCTION public.memory_count_units();
CREATE TRIGGER indexing_unit_changed AFTER UPDATE ON indexing_searchunit
    REFERENCING OLD TABLE AS old_units NEW TABLE AS new_units
    FOR EACH STATEMENT EXECUTE FUNCTION public.memory_count_units();
CREATE TRIGGER indexing_unit_removed AFTER DELETE ON indexing_searchunit
    REFERENCING OLD TABLE AS old_units
    FOR EACH STATEMENT EXECUTE FUNCTION public.memory_count_units();
