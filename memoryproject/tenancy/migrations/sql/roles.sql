-- The role that serves, and what it may do with the tables that the owner makes.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'memory_app') THEN
        BEGIN
            CREATE ROLE memory_app NOLOGIN NOSUPERUSER NOBYPASSRLS;
            GRANT memory_app TO CURRENT_USER;
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE EXCEPTION 'role memory_app is missing: as a superuser run '
                'CREATE ROLE memory_app; GRANT memory_app TO "%"', CURRENT_USER;
        END;
    END IF;
END $$;
-- Tables that exist by now (Django's own), and all that the owner makes from here on.
GRANT USAGE ON SCHEMA public TO memory_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO memory_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO memory_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO memory_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO memory_app;
