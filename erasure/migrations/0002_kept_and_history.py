"""Erasures are kept for ever, and the end of a tenant is the end of its history.

Changesets, their steps and reveals are append-only. Two functions of the owner of the
tables are let past the trigger, while an erasure of that tenant is on record and runs.
"""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantPolicy

# Only inside a function that belongs to the owner is the owner the current user of a
# connection that serves; the variable alone, which anybody can set, lets nobody past.
LET_PAST = """
CREATE OR REPLACE FUNCTION public.memory_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('memory.erasing', true) = 'on' AND current_user = (
        SELECT pg_catalog.pg_get_userbyid(relowner) FROM pg_catalog.pg_class WHERE oid = TG_RELID
    ) THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    RAISE EXCEPTION 'table % is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
REFUSE = """
CREATE OR REPLACE FUNCTION public.memory_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'table % is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
KEEP = """
CREATE TRIGGER erasure_erasure_kept BEFORE DELETE ON erasure_erasure
    FOR EACH ROW EXECUTE FUNCTION public.memory_refuse_change();
CREATE TRIGGER erasure_erasure_done BEFORE UPDATE ON erasure_erasure
    FOR EACH ROW WHEN (OLD.state = 'done') EXECUTE FUNCTION public.memory_refuse_change();
"""
KEEP_NOT = """
DROP TRIGGER erasure_erasure_done ON erasure_erasure;
DROP TRIGGER erasure_erasure_kept ON erasure_erasure;
"""
# The owner is not held to row level security: so each function asks whose rows the
# connection may see, as a policy would.
FUNCTIONS = """
CREATE FUNCTION public.memory_check_erasing(whose uuid, needed text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
BEGIN
    IF coalesce(current_setting('memory.tenant', true), '') NOT IN (whose::text, '*')
        OR NOT EXISTS (
            SELECT FROM public.erasure_erasure
            WHERE tenant_id = whose AND state = 'running' AND scope = coalesce(needed, scope)
        )
    THEN
        RAISE EXCEPTION 'nothing of this tenant is being erased'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
END $$;
CREATE FUNCTION public.memory_forget_reasons(whose uuid, changesets uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
BEGIN
    PERFORM public.memory_check_erasing(whose, NULL);
    PERFORM set_config('memory.erasing', 'on', true);
    UPDATE public.semantic_changeset SET reason = ''
    WHERE tenant_id = whose AND id = ANY (changesets) AND reason <> '';
    PERFORM set_config('memory.erasing', 'off', true);
END $$;
CREATE FUNCTION public.memory_erase_history(whose uuid, conversation uuid) RETURNS bigint
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
REVOKE ALL ON FUNCTION public.memory_check_erasing(uuid, text),
    public.memory_forget_reasons(uuid, uuid[]), public.memory_erase_history(uuid, uuid)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION public.memory_forget_reasons(uuid, uuid[]),
    public.memory_erase_history(uuid, uuid) TO memory_app;
"""
NO_FUNCTIONS = """
DROP FUNCTION public.memory_erase_history(uuid, uuid);
DROP FUNCTION public.memory_forget_reasons(uuid, uuid[]);
DROP FUNCTION public.memory_check_erasing(uuid, text);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("erasure", "0001_initial"),
        ("episodic", "0007_erased"),
        ("jobs", "0010_kind_erase"),
        ("semantic", "0013_kind_erasure"),
    ]
    operations = [
        AddTenantPolicy("erasure_erasure"),
        migrations.RunSQL(LET_PAST, REFUSE),
        migrations.RunSQL(KEEP, KEEP_NOT),
        migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS),
    ]
