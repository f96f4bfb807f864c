"""A type of events more: a rule that decides by itself stopped. Nothing changes in the database."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("events", "0002_notifications"),
    ]

    operations = [
        migrations.AlterField(
            model_name="event",
            name="type",
            field=models.CharField(
                choices=[
                    ("episode.created", "an episode was made"),
                    ("fact.added", "a fact became active"),
                    ("fact.retired", "a fact is not active any more"),
                    ("fact.restored", "a retired fact is active again"),
                    ("fact.corrected", "a fact that answers had served was taken back"),
                    ("review.requested", "something waits in the review queue"),
                    ("budget.spent", "work waits because the day's budget is spent"),
                    ("erasure.done", "an erasure is complete"),
                    ("job.dead", "a job failed so often that it is not tried again"),
                    ("budget.near", "80 % of the day's budget is spent"),
                    ("test.failed", "a memory test that passed fails"),
                    ("rule.stopped", "a rule of the review queue stopped deciding by itself"),
                ],
                max_length=32,
            ),
        ),
        migrations.AlterField(
            model_name="notification",
            name="type",
            field=models.CharField(
                choices=[
                    ("episode.created", "an episode was made"),
                    ("fact.added", "a fact became active"),
                    ("fact.retired", "a fact is not active any more"),
                    ("fact.restored", "a retired fact is active again"),
                    ("fact.corrected", "a fact that answers had served was taken back"),
                    ("review.requested", "something waits in the review queue"),
                    ("budget.spent", "work waits because the day's budget is spent"),
                    ("erasure.done", "an erasure is complete"),
                    ("job.dead", "a job failed so often that it is not tried again"),
                    ("budget.near", "80 % of the day's budget is spent"),
                    ("test.failed", "a memory test that passed fails"),
                    ("rule.stopped", "a rule of the review queue stopped deciding by itself"),
                ],
                max_length=32,
            ),
        ),
        migrations.AlterField(
            model_name="webhook",
            name="types",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("episode.created", "an episode was made"),
                        ("fact.added", "a fact became active"),
                        ("fact.retired", "a fact is not active any more"),
                        ("fact.restored", "a retired fact is active again"),
                        ("fact.corrected", "a fact that answers had served was taken back"),
                        ("review.requested", "something waits in the review queue"),
                        ("budget.spent", "work waits because the day's budget is spent"),
                        ("erasure.done", "an erasure is complete"),
                        ("job.dead", "a job failed so often that it is not tried again"),
                        ("budget.near", "80 % of the day's budget is spent"),
                        ("test.failed", "a memory test that passed fails"),
                        ("rule.stopped", "a rule of the review queue stopped deciding by itself"),
                    ],
                    max_length=32,
                ),
                blank=True,
                default=list,
                help_text="What it is told; empty: everything.",
                size=None,
            ),
        ),
    ]
