"""A table for the searches and filtered lists that people keep."""

from django.db import migrations, models
from django.db.models.functions.datetime import Now

import memoryproject.database.ids


class Migration(migrations.Migration):
    dependencies = [("console", "0001_roles")]
    operations = [
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryproject.database.ids.make_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "owner",
                    models.CharField(help_text="The user's name in the admin.", max_length=150),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "path",
                    models.CharField(help_text="From /admin/ on, with its query.", max_length=2000),
                ),
                (
                    "shared",
                    models.BooleanField(default=False, help_text="Whether everybody sees it."),
                ),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
        ),
        migrations.AddConstraint(
            model_name="savedfilter",
            constraint=models.UniqueConstraint(
                fields=("owner", "name"), name="console_saved_filter_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="savedfilter",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True)
                & models.Q(("path__startswith", "/")),
                name="console_saved_filter_whole",
            ),
        ),
    ]
