"""Finds the answers that were given shortly before some messages of a conversation."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("retrieval", "0002_same_tenant")]
    operations = [
        AddIndexConcurrently(
            model_name="retrieval",
            index=models.Index(
                fields=["conversation", "through_seq"], name="retrieval_by_conversation"
            ),
        ),
    ]
