"""The two roles, the extensions, and the SQL functions that every app's tables use."""

from django.db import migrations

CREATE_SERVING_ROLE = """
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
END $$
"""

# Tables that exist by now (Django's own), and all that the owner makes from here on.
GRANT_SERVING_ROLE = """
GRANT USAGE ON SCHEMA public TO memory_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO memory_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO memory_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO memory_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO memory_app;
"""

REVOKE_SERVING_ROLE = """
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM memory_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON SEQUENCES FROM memory_app;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM memory_app;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM memory_app;
REVOKE USAGE ON SCHEMA public FROM memory_app;
"""

# A column of type regconfig would block pg_upgrade, hence text and CASE. The names are
# written out: a function in a generated column may not depend on search_path.
LANGUAGES = (
    "arabic armenian basque catalan danish dutch english finnish french german greek hindi "
    "hungarian indonesian irish italian lithuanian nepali norwegian portuguese romanian "
    "russian serbian spanish swedish tamil turkish yiddish"
).split()
CASES = "\n".join(
    f"        WHEN '{name}' THEN pg_catalog.to_tsvector('pg_catalog.{name}'::regconfig, content)"
    for name in LANGUAGES
)
CREATE_FUNCTIONS = f"""
CREATE FUNCTION public.memory_ts(language text, content text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE language
{CASES}
        ELSE pg_catalog.to_tsvector('pg_catalog.simple'::regconfig, content)
    END
$$;
CREATE FUNCTION public.memory_dl(language text, content text) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(sum(cardinality(positions)), 0)::integer
    FROM pg_catalog.unnest(public.memory_ts(language, content))
$$;
CREATE FUNCTION public.memory_search_text(fact text, keywords text[]) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT fact || ' ' || pg_catalog.array_to_string(keywords, ' ')
$$;
CREATE FUNCTION public.memory_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'table % is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
DROP_FUNCTIONS = """
DROP FUNCTION public.memory_refuse_change();
DROP FUNCTION public.memory_search_text(text, text[]);
DROP FUNCTION public.memory_dl(text, text);
DROP FUNCTION public.memory_ts(text, text);
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        # Roles and extensions belong to more than one database: going back keeps them.
        migrations.RunSQL(CREATE_SERVING_ROLE, migrations.RunSQL.noop),
        migrations.RunSQL(GRANT_SERVING_ROLE, REVOKE_SERVING_ROLE),
        migrations.RunSQL("CREATE EXTENSION IF NOT EXISTS vector", migrations.RunSQL.noop),
        migrations.RunSQL("CREATE EXTENSION IF NOT EXISTS btree_gist", migrations.RunSQL.noop),
        migrations.RunSQL(CREATE_FUNCTIONS, DROP_FUNCTIONS),
    ]
