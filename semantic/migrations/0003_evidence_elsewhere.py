"""Indexes evidence that was said in another conversation than its fact's own."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("semantic", "0002_evidence_conversation")]

    operations = [
        AddIndexConcurrently(
            model_name="evidence",
            index=models.Index(
                condition=models.Q(("conversation__isnull", False)),
                fields=["conversation", "fact"],
                name="semantic_evidence_elsewhere",
            ),
        ),
    ]
