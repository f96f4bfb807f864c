"""Jobs that run memory tests."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0012_turns"),
    ]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="kind",
            field=models.CharField(
                choices=[
                    ("segment", "segment a window"),
                    ("flush", "segment and consolidate everything now"),
                    ("consolidate", "distil episodes into facts"),
                    ("review", "rate served episodes"),
                    ("embed", "make the vectors that are missing"),
                    ("mirror", "write what has changed to the mirror"),
                    ("erase", "erase what somebody wants erased"),
                    ("rollback", "roll back a source, or lift the quarantine of it"),
                    ("test", "run the memory tests of a conversation"),
                ],
                max_length=16,
            ),
        ),
    ]
