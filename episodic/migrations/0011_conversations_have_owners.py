"""Conversations say whose they are, and which agent leads them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("episodic", "0010_stored_messages")]
    operations = [
        migrations.AddField(
            model_name="conversation",
            name="user_id",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="Whose it is, by the agent's own id; empty: nobody was named.",
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="agent_id",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="Which agent leads it, by an id of its own; empty: none was named.",
            ),
        ),
    ]
