"""Labels of facts in instructions."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("instructions", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="instructionversion",
            name="labels",
            field=models.JSONField(
                blank=True,
                db_default=[],
                default=list,
                help_text="Labels beside the categories, each a `label` and an `example`.",
            ),
        ),
    ]
