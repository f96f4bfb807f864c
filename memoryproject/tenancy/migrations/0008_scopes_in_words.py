"""What each scope of a key lets do, in the words of today."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenancy", "0007_acts_are_kept"),
    ]

    operations = [
        migrations.AlterField(
            model_name="apikey",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("ingest", "post messages, write notes and links"),
                        ("read", "retrieve and list"),
                        ("curate", "correct, invalidate and undo"),
                        ("admin", "look after jobs, and erase"),
                    ],
                    max_length=16,
                ),
                help_text="What the key may do.",
                size=None,
            ),
        ),
    ]
