"""Let an erasure past the admin's log on a cluster, too: Citus hides whose the log's shard is."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import read_sql


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0001_initial")]

    # Back: the function may stay. On one server it does what the one before it did.
    operations = [migrations.RunSQL(read_sql(__file__, "append_only"), migrations.RunSQL.noop)]
