"""Counts a tenant's answers and their latency without reading the receipts themselves."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("retrieval", "0005_latency")]
    operations = [
        AddIndexConcurrently(
            model_name="retrieval",
            index=models.Index(
                fields=["tenant", "created_at"],
                include=["latency_ms"],
                name="retrieval_with_latency",
            ),
        ),
        RemoveIndexConcurrently(model_name="retrieval", name="retrieval_by_time"),
    ]
