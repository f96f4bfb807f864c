"""A fact may wait for a curator before anybody is served it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("semantic", "0009_closed_facts_by_reason")]
    operations = [
        migrations.AlterField(
            model_name="fact",
            name="invalidated_because",
            field=models.CharField(
                blank=True,
                choices=[
                    ("superseded", "the world changed"),
                    ("wrong", "it was never true"),
                    ("reverted", "what brought it was undone"),
                    ("erased", "it was erased"),
                    ("waiting", "it waits for a curator"),
                ],
                max_length=16,
            ),
        ),
    ]
