-- What it adds where these columns change.
CREATE TRIGGER {table}_stored_anew AFTER UPDATE ON {table}
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION public.{table}_stored();
