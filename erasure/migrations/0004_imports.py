"""An import from another system can be undone: its changeset goes, and those of its conversations.

History is append-only. What deletes it looks whether an erasure of that import is on record
and runs, and whether nothing is left that it brought in.
"""

from django.db import migrations

# In a conversation where nothing is said there is nothing that its history would explain.
HISTORY = """
CREATE OR REPLACE FUNCTION public.memory_erase_history(whose uuid, conversation uuid)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
    erased bigint;
    is_empty CONSTANT boolean := conversation IS NOT NULL AND NOT EXISTS (
        SELECT FROM public.episodic_message AS message
        WHERE message.tenant_id = whose AND message.conversation_id = conversation
    );
    of_import CONSTANT boolean := is_empty AND EXISTS (
        SELECT FROM public.erasure_erasure
        WHERE tenant_id = whose AND state = 'running' AND scope = 'import'
    );
BEGIN
    PERFORM public.memory_check_erasing(whose, CASE WHEN of_import THEN 'import' ELSE 'tenant' END);
    PERFORM set_config('memory.erasing', 'on', true);
    DELETE FROM public.semantic_change AS step USING public.semantic_changeset AS changeset
    WHERE step.tenant_id = whose AND changeset.tenant_id = whose
        AND step.changeset_id = changeset.id
        AND changeset.conversation_id IS NOT DISTINCT FROM conversation;
    DELETE FROM public.semantic_changeset
    WHERE tenant_id = whose AND conversation_id IS NOT DISTINCT FROM conversation;
    GET DIAGNOSTICS erased = ROW_COUNT;
    DELETE FROM public.episodic_reveal
    WHERE tenant_id = whose AND conversation_id = conversation;
    PERFORM set_config('memory.erasing', 'off', true);
    RETURN erased;
END $$;
CREATE FUNCTION public.memory_erase_import(whose uuid, brought_by uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
BEGIN
    PERFORM public.memory_check_erasing(whose, 'import');
    IF NOT EXISTS (
        SELECT FROM public.erasure_erasure
        WHERE tenant_id = whose AND state = 'running' AND scope = 'import' AND target = brought_by
    ) THEN
        RAISE EXCEPTION 'this import is not being erased'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    PERFORM set_config('memory.erasing', 'on', true);
    DELETE FROM public.semantic_change WHERE tenant_id = whose AND changeset_id = brought_by;
    DELETE FROM public.semantic_changeset WHERE tenant_id = whose AND id = brought_by;
    PERFORM set_config('memory.erasing', 'off', true);
END $$;
REVOKE ALL ON FUNCTION public.memory_erase_import(uuid, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION public.memory_erase_import(uuid, uuid) TO memory_app;
"""
BEFORE = """
DROP FUNCTION public.memory_erase_import(uuid, uuid);
CREATE OR REPLACE FUNCTION public.memory_erase_history(whose uuid, conversation uuid)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
    erased bigint;
BEGIN
    PERFORM public.memory_check_erasing(whose, 'tenant');
    PERFORM set_config('memory.erasing', 'on', true);
    DELETE FROM public.semantic_change AS step USING public.semantic_changeset AS changeset
    WHERE step.tenant_id = whose AND changeset.tenant_id = whose
        AND step.changeset_id = changeset.id
        AND changeset.conversation_id IS NOT DISTINCT FROM conversation;
    DELETE FROM public.semantic_changeset
    WHERE tenant_id = whose AND conversation_id IS NOT DISTINCT FROM conversation;
    GET DIAGNOSTICS erased = ROW_COUNT;
    DELETE FROM public.episodic_reveal
    WHERE tenant_id = whose AND conversation_id = conversation;
    PERFORM set_config('memory.erasing', 'off', true);
    RETURN erased;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("erasure", "0003_reasons_of_acts"), ("semantic", "0015_pinned_facts")]
    operations = [migrations.RunSQL(HISTORY, BEFORE)]
