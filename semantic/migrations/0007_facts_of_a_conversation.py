"""Lists the facts of one conversation, held or not."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("semantic", "0006_closed_facts_by_time")]
    operations = [
        AddIndexConcurrently(
            model_name="fact",
            index=models.Index(
                fields=["conversation", "valid_at"], name="semantic_fact_of_conversation"
            ),
        ),
    ]
