"""Large shelves keep counts of their words; the trigger on units keeps the counts."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantReference

# A shelf's own row is written first, so that two writers to one shelf wait for each other.
# When a conversation's shelf grows large its words are counted once; from then on only
# what changes is.
KEEP = """
CREATE TYPE public.memory_unit AS (
    tenant_id uuid, conversation_id uuid, shelf text, id uuid, dl integer, language text,
    lexical_text text
);
CREATE FUNCTION public.memory_count_words(tenant uuid, conversation uuid, of_shelf text)
RETURNS void LANGUAGE sql AS $$
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
$$;
CREATE FUNCTION public.memory_add_units(sign integer, changed public.memory_unit[])
RETURNS void LANGUAGE sql AS $$
    INSERT INTO public.indexing_shelfsize AS size
        (id, tenant_id, conversation_id, shelf, units, lexemes, counted)
    SELECT gen_random_uuid(), tenant_id, conversation_id, shelf,
        sign * count(*), sign * sum(dl), FALSE
    FROM unnest(changed)
    GROUP BY tenant_id, conversation_id, shelf ORDER BY tenant_id, conversation_id, shelf
    ON CONFLICT (tenant_id, conversation_id, shelf) DO UPDATE
    SET units = size.units + excluded.units, lexemes = size.lexemes + excluded.lexemes;
    INSERT INTO public.indexing_wordcount AS held
        (id, tenant_id, conversation_id, shelf, slot, units)
    SELECT gen_random_uuid(), tenant_id, conversation_id, shelf, slot, sign * count(*)
    FROM (
        SELECT DISTINCT size.tenant_id, size.conversation_id, size.shelf, unit.id,
            public.memory_slot(lexeme) AS slot
        FROM unnest(changed) AS unit
        JOIN public.indexing_shelfsize AS size ON size.tenant_id = unit.tenant_id
            AND size.conversation_id = unit.conversation_id AND size.shelf = unit.shelf
            AND size.counted
        CROSS JOIN LATERAL
            pg_catalog.unnest(public.memory_ts(unit.language, unit.lexical_text))
    ) AS word
    GROUP BY tenant_id, conversation_id, shelf, slot
    ORDER BY tenant_id, conversation_id, shelf, slot
    ON CONFLICT (tenant_id, conversation_id, shelf, slot) DO UPDATE
    SET units = held.units + excluded.units;
    SELECT public.memory_count_words(size.tenant_id, size.conversation_id, size.shelf)
    FROM (SELECT DISTINCT tenant_id, conversation_id, shelf FROM unnest(changed)) AS scope
    JOIN public.indexing_shelfsize AS size USING (tenant_id, conversation_id, shelf)
    WHERE size.units >= 2000 AND NOT size.counted;
$$;
CREATE OR REPLACE FUNCTION public.memory_count_units() RETURNS trigger LANGUAGE plpgsql AS $$
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
"""
FORGET = """
CREATE OR REPLACE FUNCTION public.memory_count_units() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN NULL;
END $$;
DROP FUNCTION public.memory_add_units(integer, public.memory_unit[]);
DROP FUNCTION public.memory_count_words(uuid, uuid, text);
DROP TYPE public.memory_unit;
"""
COUNT_ALL = """
SELECT public.memory_count_words(tenant_id, conversation_id, shelf)
FROM indexing_shelfsize WHERE units >= 2000
"""


class Migration(migrations.Migration):
    dependencies = [("indexing", "0010_word_counts")]
    operations = [
        AddTenantReference("indexing_wordcount", "conversation_id", "episodic_conversation"),
        migrations.RunSQL(KEEP, FORGET),
        migrations.RunSQL(COUNT_ALL, migrations.RunSQL.noop),
    ]
