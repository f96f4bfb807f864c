"""Why a person changed, deleted or restored a note may quote it, and goes with it.

Django's log of the admin can only grow: a function of the owner of the table is let past
its trigger, while an erasure of that tenant is on record and runs. What was done stays.
"""

from django.db import migrations

# The owner is not held to row level security: so only memories of that tenant are named.
FUNCTION = """
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
"""
NO_FUNCTION = "DROP FUNCTION public.memory_forget_acts(uuid, uuid[]);"


class Migration(migrations.Migration):
    dependencies = [
        ("erasure", "0002_kept_and_history"),
        ("indexing", "0015_policies"),
        ("tenancy", "0007_acts_are_kept"),
    ]
    operations = [migrations.RunSQL(FUNCTION, NO_FUNCTION)]
