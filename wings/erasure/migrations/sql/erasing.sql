-- What lets an erasure past tables that keep history: functions of their owner, which look
-- whether an erasure of that tenant is on record and runs. Each names the tenant in each
-- statement, and asks whose rows the connection may see, as a policy would.
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
-- In a conversation where nothing is said there is nothing that its history would explain.
CREATE FUNCTION public.memory_erase_history(whose uuid, conversation uuid)
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
REVOKE ALL ON FUNCTION public.memory_check_erasing(uuid, text),
    public.memory_forget_reasons(uuid, uuid[]), public.memory_erase_history(uuid, uuid)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION public.memory_forget_reasons(uuid, uuid[]),
    public.memory_erase_history(uuid, uuid) TO memory_app;
-- Why a person changed, deleted or restored a note may quote it, and goes with it.
CREATE FUNCTION public.memory_forget_acts(whose uuid, memories uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
BEGIN
    PERFORM public.memory_check_erasing(whose, NULL);
    PERFORM set_config('memory.erasing', 'on', true);
    UPDATE public.django_admin_log SET change_message = split_part(change_message, ': ', 1)
    WHERE change_message LIKE '%: %' AND object_id IN (
        SELECT id::text FROM public.indexing_memory
        WHERE tenant_id = whose AND id = ANY (memories)
    );
    PERFORM set_config('memory.erasing', 'off', true);
END $$;
REVOKE ALL ON FUNCTION public.memory_forget_acts(uuid, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION public.memory_forget_acts(uuid, uuid[]) TO memory_app;
-- An import from another system can be undone: its changeset goes.
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
