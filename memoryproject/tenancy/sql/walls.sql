-- Whether policies hold who serves by this connection.
--
-- in:  nothing
-- out: the role, whether it is a superuser, whether it bypasses policies, a table that it owns,
--      and a table of tenants' rows whose policy is not forced; NULL where there is none
-- index: those of the catalogue
WITH tables AS (
    SELECT relname, relowner, relrowsecurity AND relforcerowsecurity AS forced,
        relname = 'tenancy_tenant' OR EXISTS (
            SELECT FROM pg_catalog.pg_attribute
            WHERE attrelid = pg_class.oid AND attname = 'tenant_id' AND NOT attisdropped
        ) AS of_tenants
    FROM pg_catalog.pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
)
SELECT current_user, rolsuper, rolbypassrls,
    (SELECT min(relname) FROM tables WHERE pg_has_role(relowner, 'USAGE')),
    (SELECT min(relname) FROM tables WHERE of_tenants AND NOT forced)
FROM pg_catalog.pg_roles WHERE rolname = current_user
