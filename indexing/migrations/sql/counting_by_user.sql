-- How much a shelf holds, of a conversation and of a user, kept by triggers on units.
--
-- A unit counts to its conversation's own row, to its user's, and to that of both; what has
-- neither counts to the tenant's. Changes that cancel each other out write nothing.
-- Each statement names one tenant, in a variable: so it is answered where his rows lie.
-- A shelf's rows are written first, conversations' before users', so that two writers to one
-- shelf wait for each other. When a shelf of a conversation or of a user grows large its words
-- are counted once; from then on only what changes is. A size may fall to zero and stays.
CREATE TYPE public.memory_unit AS (
    sign integer, tenant_id uuid, conversation_id uuid, user_scope uuid, shelf text, id uuid,
    dl integer, language text, lexical_text text
);
CREATE FUNCTION public.memory_count_words(
    tenant uuid, conversation uuid, of_user uuid, of_shelf text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    owners CONSTANT uuid[] := CASE WHEN conversation IS NULL THEN ARRAY[of_user] ELSE ARRAY(
        SELECT DISTINCT coalesce(user_scope, conversation_id) FROM public.indexing_shelfsize
        WHERE tenant_id = tenant AND conversation_id = conversation
    ) END;
BEGIN
    INSERT INTO public.indexing_wordcount
        (id, tenant_id, conversation_id, user_scope, shelf, slot, units)
    SELECT gen_random_uuid(), tenant, conversation, of_user, of_shelf, slot, count(*)
    FROM (
        SELECT DISTINCT unit.id, public.memory_slot(lexeme) AS slot
        FROM public.indexing_searchunit AS unit CROSS JOIN LATERAL
            pg_catalog.unnest(public.memory_ts(unit.language, unit.lexical_text))
        WHERE unit.tenant_id = tenant
            AND CASE WHEN unit.user_scope IS NULL THEN unit.conversation_id
                ELSE unit.user_scope END = ANY(owners)
            AND (conversation IS NULL OR unit.conversation_id = conversation)
            AND unit.shelf = of_shelf AND unit.invalid_at IS NULL
    ) AS word
    GROUP BY slot;
    UPDATE public.indexing_shelfsize SET counted = TRUE
    WHERE tenant_id = tenant AND shelf = of_shelf
        AND conversation_id IS NOT DISTINCT FROM conversation
        AND user_scope IS NOT DISTINCT FROM of_user;
END $$;
CREATE FUNCTION public.memory_add_units(changed public.memory_unit[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    whose uuid;
    shares public.memory_unit[];
    grown record;
BEGIN
    FOR whose IN SELECT DISTINCT tenant_id FROM unnest(changed) ORDER BY tenant_id LOOP
        SELECT array_agg(ROW(share.*)::public.memory_unit) INTO shares
        FROM (
            SELECT sum(unit.sign)::integer, whose, place.conversation_id, place.user_scope,
                unit.shelf, unit.id, unit.dl, unit.language, unit.lexical_text
            FROM unnest(changed) AS unit CROSS JOIN LATERAL (
                SELECT unit.conversation_id, NULL::uuid AS user_scope
                WHERE unit.conversation_id IS NOT NULL OR unit.user_scope IS NULL
                UNION ALL SELECT NULL, unit.user_scope WHERE unit.user_scope IS NOT NULL
                UNION ALL SELECT unit.conversation_id, unit.user_scope
                WHERE unit.conversation_id IS NOT NULL AND unit.user_scope IS NOT NULL
            ) AS place
            WHERE unit.tenant_id = whose
            GROUP BY place.conversation_id, place.user_scope, unit.shelf, unit.id, unit.dl,
                unit.language, unit.lexical_text
            HAVING sum(unit.sign) <> 0
        ) AS share;
        FOR grown IN
            INSERT INTO public.indexing_shelfsize AS size
                (id, tenant_id, conversation_id, user_scope, shelf, units, lexemes, counted)
            SELECT gen_random_uuid(), whose, conversation_id, user_scope, shelf,
                sum(sign), sum(sign * dl), FALSE
            FROM unnest(shares)
            GROUP BY conversation_id, user_scope, shelf
            ORDER BY user_scope NULLS FIRST, conversation_id, shelf
            ON CONFLICT (tenant_id, conversation_id, shelf, user_scope) DO UPDATE
            SET units = size.units + excluded.units, lexemes = size.lexemes + excluded.lexemes
            RETURNING conversation_id, user_scope, shelf, units, counted
        LOOP
            IF (grown.conversation_id IS NULL) = (grown.user_scope IS NULL) THEN
                CONTINUE;  -- the sum of other rows, or what belongs to the tenant
            END IF;
            IF grown.counted THEN
                INSERT INTO public.indexing_wordcount AS held
                    (id, tenant_id, conversation_id, user_scope, shelf, slot, units)
                SELECT gen_random_uuid(), whose, grown.conversation_id, grown.user_scope,
                    grown.shelf, slot, sum(sign)
                FROM (
                    SELECT DISTINCT unit.id, unit.sign, public.memory_slot(lexeme) AS slot
                    FROM unnest(shares) AS unit CROSS JOIN LATERAL
                        pg_catalog.unnest(public.memory_ts(unit.language, unit.lexical_text))
                    WHERE unit.shelf = grown.shelf
                        AND unit.conversation_id IS NOT DISTINCT FROM grown.conversation_id
                        AND unit.user_scope IS NOT DISTINCT FROM grown.user_scope
                ) AS word
                GROUP BY slot ORDER BY slot
                ON CONFLICT (tenant_id, conversation_id, shelf, slot, user_scope) DO UPDATE
                SET units = held.units + excluded.units;
            ELSIF grown.units >= 2000 THEN
                PERFORM public.memory_count_words(
                    whose, grown.conversation_id, grown.user_scope, grown.shelf
                );
            END IF;
        END LOOP;
    END LOOP;
END $$;
CREATE FUNCTION public.memory_count_units() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before public.memory_unit[];
    after public.memory_unit[];
BEGIN
    IF TG_OP <> 'INSERT' THEN
        SELECT array_agg(ROW(
            -1, tenant_id, conversation_id, user_scope, shelf, id, dl, language, lexical_text
        )::public.memory_unit) INTO before
        FROM old_units WHERE invalid_at IS NULL;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        SELECT array_agg(ROW(
            1, tenant_id, conversation_id, user_scope, shelf, id, dl, language, lexical_text
        )::public.memory_unit) INTO after
        FROM new_units WHERE invalid_at IS NULL;
    END IF;
    IF before IS NOT NULL OR after IS NOT NULL THEN
        PERFORM public.memory_add_units(before || after);
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
