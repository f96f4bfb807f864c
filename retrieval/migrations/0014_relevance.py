"""The relevance of an answer on its receipt; receipts of before have none."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0013_memory_tests")]

    operations = [
        migrations.AddField(
            model_name="retrieval",
            name="relevance",
            field=models.FloatField(
                null=True,
                help_text="How likely it is that the answer holds what was asked for; "
                "NULL: not known.",
            ),
        ),
    ]
