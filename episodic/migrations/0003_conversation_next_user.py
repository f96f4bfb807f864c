"""Says whose a conversation becomes, while it is moved from one user to another."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("episodic", "0002_conversation_in_user_scope")]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="next_user_id",
            field=models.TextField(
                help_text="Whose it becomes once nothing of it stands under its user's scope; empty: nobody's; NULL: it does not change.",
                null=True,
            ),
        ),
    ]
