"""Finds units by their owner and time."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

NAME = "indexing_unit_time_of_owner"


class Migration(migrations.Migration):
    atomic = False  # beside reads and writes

    dependencies = [("indexing", "0004_unit_words_of_owner")]

    operations = [
        # What an interrupted build has left.
        migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="searchunit",
            index=models.Index(
                models.F("tenant"),
                models.Case(
                    models.When(user_scope=None, then=models.F("conversation")),
                    default=models.F("user_scope"),
                    output_field=models.UUIDField(),
                ),
                models.F("conversation"),
                models.F("valid_at"),
                name=NAME,
            ),
        ),
    ]
