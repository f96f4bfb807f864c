"""When models fail, for all processes."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Breaker",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "provider",
                    models.CharField(help_text="Host and port of the endpoint.", max_length=200),
                ),
                ("model", models.CharField(max_length=200)),
                (
                    "failures",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="Failures in a row since `counting_since`; an answer resets them.",
                    ),
                ),
                ("counting_since", models.DateTimeField(blank=True, null=True)),
                (
                    "opened_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Time since which no question was answered; empty: closed.",
                        null=True,
                    ),
                ),
                (
                    "open_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="Time before which nobody asks; empty: closed.",
                        null=True,
                    ),
                ),
                (
                    "closed_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Time of the answer that ended the last outage.",
                        null=True,
                    ),
                ),
                (
                    "probing_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="One caller tries; others wait until then.",
                        null=True,
                    ),
                ),
                (
                    "timed_out_scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        blank=True,
                        default=list,
                        help_text="Conversations whose timeouts were counted: others try before them.",
                        size=None,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "model"), name="ai_breaker_one_a_model"
                    )
                ],
            },
        ),
    ]
