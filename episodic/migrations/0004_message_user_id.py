"""Lets a message name another user than its conversation's."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("episodic", "0003_conversation_next_user")]

    operations = [
        migrations.AddField(
            model_name="message",
            name="user_id",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="Its user, by the agent's own id; empty: the conversation's user.",
            ),
        ),
    ]
