-- What a tenant stores is counted by triggers of other apps, without one waiting for another.
-- Who finds a row that nobody has locked adds to it; else to a row of its own, so there are
-- never more rows than there were writers at once. Room on each page keeps updates on it.
ALTER TABLE tenancy_storedsize SET (fillfactor = 10);
CREATE FUNCTION public.memory_add_stored(whose uuid, more_rows bigint, more_bytes numeric)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.tenancy_storedsize
        SET row_count = row_count + more_rows, byte_count = byte_count + more_bytes
        WHERE tenant_id = whose AND id = (SELECT id FROM public.tenancy_storedsize
            WHERE tenant_id = whose LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO public.tenancy_storedsize (id, tenant_id, row_count, byte_count)
            VALUES (gen_random_uuid(), whose, more_rows, more_bytes);
    END IF;
END $$;
COMMENT ON FUNCTION public.memory_add_stored IS
    'Add to what a tenant stores, for as long as the transaction lasts; waits for nobody.';
