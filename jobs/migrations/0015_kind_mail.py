"""Jobs that tell people by mail what has happened."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0014_kind_deliver"),
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
                    ("deliver", "tell a webhook what has happened"),
                    ("mail", "tell people by mail what has happened"),
                ],
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="job",
            name="scope",
            field=models.UUIDField(
                help_text="What the job works on: the id of a conversation; for reviews the job's own id; for erasures, rollbacks and webhooks theirs; for mails, and vectors of what belongs to no conversation, the tenant's."
            ),
        ),
    ]
