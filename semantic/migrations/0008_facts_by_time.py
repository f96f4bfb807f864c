"""Finds what was true at an early time without a look at all facts."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("semantic", "0007_facts_of_a_conversation")]
    operations = [
        AddIndexConcurrently(
            model_name="fact",
            index=models.Index(fields=["valid_at"], name="semantic_fact_by_time"),
        ),
    ]
