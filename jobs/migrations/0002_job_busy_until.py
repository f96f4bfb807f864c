"""Until when what a running job does now counts as progress."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="job",
            name="busy_until",
            field=models.DateTimeField(
                blank=True,
                help_text="Of a running job: what it does now, as a call of a model, may take until then; after this it counts as stuck.",
                null=True,
            ),
        ),
    ]
