"""Policies without subqueries, which hold the owner, too.

Each table in a transaction of its own: nobody waits for more than one of them. Going back
leaves them: what was before reads the same variable.
"""

from django.db import migrations

from memoryproject.tenancy.migration_operations import WHOSE

BY_TENANT = WHOSE.format(column="tenant_id")
FORCE = f"""
DO $do$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_policies
        WHERE schemaname = 'public' AND policyname = 'own_tenant' AND tablename <> 'tenancy_tenant'
        ORDER BY tablename
    LOOP
        EXECUTE format($sql$
            ALTER POLICY own_tenant ON public.%I USING ({BY_TENANT}) WITH CHECK ({BY_TENANT})
        $sql$, name);
        EXECUTE format('ALTER TABLE public.%I FORCE ROW LEVEL SECURITY', name);
        COMMIT;
    END LOOP;
END $do$
"""
BY_ID = WHOSE.format(column="id")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("tenancy", "0008_scopes_in_words")]
    operations = [
        migrations.RunSQL(FORCE, migrations.RunSQL.noop),
        migrations.RunSQL(
            f"ALTER POLICY own_tenant ON tenancy_tenant USING ({BY_ID}) WITH CHECK ({BY_ID})",
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            "ALTER TABLE tenancy_tenant FORCE ROW LEVEL SECURITY", migrations.RunSQL.noop
        ),
    ]
