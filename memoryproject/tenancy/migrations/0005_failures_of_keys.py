"""What calls of a key failed of; empty for the days that are there already."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0004_key_default_scope")]

    operations = [
        migrations.AddField(
            model_name="keyusage",
            name="failures",
            field=models.JSONField(
                help_text="Calls by what was answered from 400 on: status, method, route and "
                "message; the 20 most frequent. NULL: none, or counted by an earlier version.",
                null=True,
            ),
        ),
    ]
