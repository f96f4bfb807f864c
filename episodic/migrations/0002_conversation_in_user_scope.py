"""Says of each conversation whether all that is found of it stands under its user's scope.

Of those that are there already nothing does; a job moves it.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("episodic", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="in_user_scope",
            field=models.BooleanField(
                db_default=False,
                default=True,
                help_text="Whether all that is found of it stands under its user's scope; if not, a job is to move some of it there.",
            ),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(
                    models.Q(("user_id", ""), _negated=True), ("in_user_scope", False)
                ),
                fields=["tenant", "user_id"],
                name="episodic_conversation_to_move",
            ),
        ),
    ]
