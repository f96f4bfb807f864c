"""The column `subject` also says who a person is, until all is erased; only its text changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("erasure", "0002_erasure_proof")]

    operations = [
        migrations.AlterField(
            model_name="erasure",
            name="subject",
            field=models.TextField(
                blank=True,
                help_text="Whose notes, by the agent's own id; of a person, as JSON, the names and "
                "ids and what was chosen of shared conversations. Emptied when all is erased.",
            ),
        ),
    ]
