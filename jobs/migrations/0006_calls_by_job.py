"""Finds the model calls of a job."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("jobs", "0005_operating")]
    operations = [
        AddIndexConcurrently(
            model_name="llmcall",
            index=models.Index(fields=["job"], name="jobs_llmcall_by_job"),
        ),
    ]
