-- What `CountStored` adds to a table: `size` is an expression for the bytes of a row.
CREATE FUNCTION public.{table}_stored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM public.memory_add_stored(tenant_id, -count(*), -sum({size}))
            FROM old_rows GROUP BY tenant_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM public.memory_add_stored(tenant_id, count(*), sum({size}))
            FROM new_rows GROUP BY tenant_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER {table}_stored_more AFTER INSERT ON {table} REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION public.{table}_stored();
CREATE TRIGGER {table}_stored_less AFTER DELETE ON {table} REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION public.{table}_stored();
