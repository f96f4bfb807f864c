"""Flags that let reading skip what a conversation has not; quarantines of single messages."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0012_conversations_by_owner"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="has_corrections",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Whether a person ever corrected something: reading looks for marks then.",
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="has_tests",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Whether memory tests may ask it: changesets queue them then.",
            ),
        ),
        migrations.AddField(
            model_name="withholding",
            name="message_ids",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.UUIDField(),
                help_text="These messages alone; NULL: any.",
                null=True,
                size=None,
            ),
        ),
    ]
