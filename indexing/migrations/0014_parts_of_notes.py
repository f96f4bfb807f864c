"""Units of notes name the part that they stand for."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("indexing", "0013_terms"),
    ]

    operations = [
        migrations.AlterField(
            model_name="searchunit",
            name="first_seq",
            field=models.BigIntegerField(
                help_text="First message it stands for; of a note its part, from 0.", null=True
            ),
        ),
        migrations.AlterField(
            model_name="searchunit",
            name="last_seq",
            field=models.BigIntegerField(
                help_text="Last message it stands for; of a note its part, from 0.", null=True
            ),
        ),
    ]
