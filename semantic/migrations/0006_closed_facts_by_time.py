"""Finds the facts that a tenant ceased to hold in a span of time."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("semantic", "0005_reverted")]
    operations = [
        AddIndexConcurrently(
            model_name="fact",
            index=models.Index(
                condition=models.Q(("invalid_at__isnull", False)),
                fields=["tenant", "invalid_at"],
                name="semantic_fact_closed",
            ),
        ),
    ]
