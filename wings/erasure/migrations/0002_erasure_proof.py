"""What a search for names and ids found when a user or a person was erased."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("erasure", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="erasure",
            name="proof",
            field=models.JSONField(
                null=True,
                help_text="Of a user or a person what a search for names and ids found at the end: "
                "numbers, tables and ids of rows, never the names. NULL: there was no such search.",
            ),
        ),
    ]
