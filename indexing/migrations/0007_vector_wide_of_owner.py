"""Finds vectors that are too wide for an index row by their owner."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

NAME = "indexing_vector_wide_of_owner"


class Migration(migrations.Migration):
    atomic = False  # beside reads and writes

    dependencies = [("indexing", "0006_vector_of_owner")]

    operations = [
        # What an interrupted build has left.
        migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="searchvector",
            index=models.Index(
                models.F("tenant"),
                models.Case(
                    models.When(user_scope=None, then=models.F("conversation")),
                    default=models.F("user_scope"),
                    output_field=models.UUIDField(),
                ),
                models.F("shelf"),
                models.F("model"),
                models.F("conversation"),
                condition=models.Q(("dim__gt", 1024), ("invalid_at", None)),
                name=NAME,
            ),
        ),
    ]
