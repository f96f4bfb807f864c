"""Jobs of one lane, such as those that draw facts of one user, run one after another."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0005_job_that_forgets")]

    operations = [
        migrations.AddField(
            model_name="job",
            name="lane",
            field=models.UUIDField(
                blank=True,
                help_text="Jobs of one lane run one after another; empty: of none.",
                null=True,
            ),
        ),
    ]
