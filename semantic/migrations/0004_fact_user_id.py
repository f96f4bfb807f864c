"""Says of a fact whose it is, where its messages name another user than the conversation's."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("semantic", "0003_evidence_elsewhere")]

    operations = [
        migrations.AddField(
            model_name="fact",
            name="user_id",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="Whose it is, where all messages that say it name another user than the conversation's; empty: the conversation's.",
            ),
        ),
    ]
