"""A fact may be held no more because what brought it was undone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("semantic", "0004_states_of_earlier_changes")]
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
                ],
                max_length=16,
            ),
        ),
    ]
