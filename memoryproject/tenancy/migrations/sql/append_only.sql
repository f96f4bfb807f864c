-- What refuses to change history: triggers of append-only tables call it.
-- Functions of the tables' owner are let past while an erasure runs. Only inside one that belongs
-- to the owner is he the current user of a connection that serves; the variable alone, which
-- anybody can set, lets nobody past. He owns this function, too: it is looked up and not the table,
-- since Citus hides its shards, those of the coordinator's own tables, too, from pg_class.
CREATE OR REPLACE FUNCTION public.memory_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('memory.erasing', true) = 'on' AND current_user = (
        SELECT pg_catalog.pg_get_userbyid(proowner) FROM pg_catalog.pg_proc
        WHERE oid = 'public.memory_refuse_change'::regproc
    ) THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    RAISE EXCEPTION 'table % is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
