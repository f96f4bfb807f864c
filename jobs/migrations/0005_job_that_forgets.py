"""A kind of job that forgets what messages ask to forget; somebody waits for it."""

import django.db.models.functions.comparison
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0004_job_that_moves"),
        ("tenancy", "0003_installation"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="job",
            name="jobs_job_interactive",
        ),
        migrations.AlterField(
            model_name="job",
            name="kind",
            field=models.CharField(
                choices=[
                    ("segment", "segment a window"),
                    ("flush", "segment and consolidate everything now"),
                    ("consolidate", "distil episodes into facts"),
                    ("review", "rate served episodes"),
                    ("embed", "make the vectors that are missing"),
                    ("mirror", "write what has changed to the mirror"),
                    ("erase", "erase what somebody wants erased"),
                    ("rollback", "roll back a source, or lift the quarantine of it"),
                    ("forget", "forget what a message asks to forget"),
                    ("move", "move a conversation to its user"),
                    ("test", "run the memory tests of a conversation"),
                    ("deliver", "tell a webhook what has happened"),
                    ("mail", "tell people by mail what has happened"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                models.F("tenant"),
                django.db.models.functions.comparison.Coalesce("lease_until", "run_after"),
                models.F("id"),
                condition=models.Q(
                    ("kind__in", ("flush", "erase", "rollback", "forget")),
                    ("state__in", ["ready", "running"]),
                ),
                name="jobs_job_interactive",
            ),
        ),
    ]
