"""Finds the conversations of a user, and of an agent."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("episodic", "0011_conversations_have_owners")]
    operations = [
        AddIndexConcurrently(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(("user_id", ""), _negated=True),
                fields=["tenant", "user_id"],
                name="episodic_conversation_by_user",
            ),
        ),
        AddIndexConcurrently(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(("agent_id", ""), _negated=True),
                fields=["tenant", "agent_id"],
                name="episodic_conversation_by_agent",
            ),
        ),
    ]
