"""Lists what waits for a curator without a look at all facts."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("semantic", "0010_facts_wait")]
    operations = [
        AddIndexConcurrently(
            model_name="fact",
            index=models.Index(
                fields=["tenant", "id"],
                condition=models.Q(invalidated_because="waiting"),
                name="semantic_fact_waiting",
            ),
        ),
    ]
