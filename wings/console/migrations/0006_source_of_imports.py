"""Imports of other systems' exports beside those of facts: each run names its source."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0005_instructions"),
    ]

    operations = [
        migrations.AddField(
            model_name="importrun",
            name="source",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The system that wrote it; empty: a file of facts.",
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="importbatch",
            name="rows",
            field=models.JSONField(
                help_text="The facts or records to add; emptied when that is done."
            ),
        ),
        migrations.AlterField(
            model_name="importrun",
            name="opened",
            field=models.PositiveIntegerField(
                default=0, help_text="Facts or records that were added."
            ),
        ),
        migrations.AlterField(
            model_name="importrun",
            name="total",
            field=models.PositiveIntegerField(
                help_text="Number of facts or records in the file that are new."
            ),
        ),
    ]
