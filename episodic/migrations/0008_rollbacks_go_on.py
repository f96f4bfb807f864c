"""A worker may go on with a rollback; those of before were done in one go."""

from django.db import migrations, models

ALL_DONE = "UPDATE episodic_withholding SET done_at = coalesce(lifted_at, created_at)"


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0007_erased"),
    ]

    operations = [
        migrations.AddField(
            model_name="withholding",
            name="done_at",
            field=models.DateTimeField(
                help_text="NULL: a worker goes on, with withholding or with lifting it.", null=True
            ),
        ),
        migrations.RunSQL(ALL_DONE, migrations.RunSQL.noop),
    ]
