"""Finds units by their owner and time."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Coalesce

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
                Coalesce("user_scope", "conversation"),
                models.F("conversation"),
                models.F("valid_at"),
                name=NAME,
            ),
        ),
    ]
