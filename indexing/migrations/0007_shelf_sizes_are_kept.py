"""Shelf sizes follow the units, whoever writes them; wide vectors stay in their rows."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantReference

# One pass over the rows of a statement. A size may fall to zero and stays.
CREATE = """
CREATE FUNCTION public.memory_count_units() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE public.indexing_shelfsize AS size
        SET units = size.units - gone.units, lexemes = size.lexemes - gone.lexemes
        FROM (SELECT tenant_id, conversation_id, shelf, count(*) AS units, sum(dl) AS lexemes
            FROM old_units WHERE invalid_at IS NULL
            GROUP BY tenant_id, conversation_id, shelf) AS gone
        WHERE size.tenant_id = gone.tenant_id AND size.shelf = gone.shelf
            AND size.conversation_id IS NOT DISTINCT FROM gone.conversation_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO public.indexing_shelfsize AS size
            (id, tenant_id, conversation_id, shelf, units, lexemes)
        SELECT gen_random_uuid(), tenant_id, conversation_id, shelf, count(*), sum(dl)
        FROM new_units WHERE invalid_at IS NULL
        GROUP BY tenant_id, conversation_id, shelf
        ORDER BY tenant_id, conversation_id, shelf
        ON CONFLICT (tenant_id, conversation_id, shelf) DO UPDATE
        SET units = size.units + excluded.units, lexemes = size.lexemes + excluded.lexemes;
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
INSERT INTO indexing_shelfsize (id, tenant_id, conversation_id, shelf, units, lexemes)
    SELECT gen_random_uuid(), tenant_id, conversation_id, shelf, count(*), sum(dl)
    FROM indexing_searchunit WHERE invalid_at IS NULL
    GROUP BY tenant_id, conversation_id, shelf;
"""
DROP = """
DROP TRIGGER indexing_unit_removed ON indexing_searchunit;
DROP TRIGGER indexing_unit_changed ON indexing_searchunit;
DROP TRIGGER indexing_unit_added ON indexing_searchunit;
DROP FUNCTION public.memory_count_units();
DELETE FROM indexing_shelfsize;
"""
# Wider rows than 2 kB would be moved out of line, where an exact scan is slow.
KEEP_INLINE = "ALTER TABLE indexing_searchvector ALTER COLUMN embedding SET STORAGE MAIN"
MOVE_OUT = "ALTER TABLE indexing_searchvector ALTER COLUMN embedding SET STORAGE EXTERNAL"


class Migration(migrations.Migration):
    dependencies = [("indexing", "0006_words_as_sparse_vectors")]
    operations = [
        AddTenantReference("indexing_shelfsize", "conversation_id", "episodic_conversation"),
        migrations.RunSQL(CREATE, DROP),
        migrations.RunSQL(KEEP_INLINE, MOVE_OUT),
    ]
