"""Indexes evidence that was said in another conversation than its fact's own."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # beside reads and writes

    dependencies = [("semantic", "0002_evidence_conversation")]

    operations = [
        # What an interrupted build has left.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS semantic_evidence_elsewhere",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="evidence",
            index=models.Index(
                condition=models.Q(("conversation__isnull", False)),
                fields=["conversation", "fact"],
                name="semantic_evidence_elsewhere",
            ),
        ),
    ]
