"""A kind of job that moves conversations to their users; only what a column may hold changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0003_workerrestart")]

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
                    ("move", "move a conversation to its user"),
                    ("test", "run the memory tests of a conversation"),
                    ("deliver", "tell a webhook what has happened"),
                    ("mail", "tell people by mail what has happened"),
                ],
                max_length=16,
            ),
        ),
    ]
