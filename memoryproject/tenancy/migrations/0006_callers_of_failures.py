"""The address that a failed call came from, beside its number; nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0005_failures_of_keys")]

    operations = [
        migrations.AlterField(
            model_name="keyusage",
            name="failures",
            field=models.JSONField(
                help_text="Calls by what was answered from 400 on: status, method, route and "
                "message; the 20 most frequent, each with its number and an address that it came "
                "from of late. NULL: none, or counted by an earlier version.",
                null=True,
            ),
        ),
    ]
