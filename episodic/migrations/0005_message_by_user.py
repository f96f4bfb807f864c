"""Finds the messages that name a user."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

NAME = "episodic_message_by_user"


class Migration(migrations.Migration):
    atomic = False  # beside reads and writes

    dependencies = [("episodic", "0004_message_user_id")]

    operations = [
        # What an interrupted build has left.
        migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                condition=models.Q(("user_id", ""), _negated=True),
                fields=["tenant", "user_id"],
                name=NAME,
            ),
        ),
    ]
