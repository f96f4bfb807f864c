"""The record of workers that a supervisor ended, since nobody took work."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_job_busy_until")]

    operations = [
        migrations.CreateModel(
            name="WorkerRestart",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("cluster", models.UUIDField(help_text="The cluster whose workers were ended.")),
                ("reason", models.CharField(max_length=200)),
            ],
            options={
                "indexes": [models.Index(fields=["at"], name="jobs_workerrestart_by_time")],
            },
        ),
    ]
