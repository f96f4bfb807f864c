"""Lists facts that were closed for a rare reason without a look at all facts."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("semantic", "0008_facts_by_time")]
    operations = [
        AddIndexConcurrently(
            model_name="fact",
            index=models.Index(
                fields=["invalidated_because", "id"],
                condition=models.Q(invalid_at__isnull=False),
                name="semantic_fact_by_reason",
            ),
        ),
    ]
