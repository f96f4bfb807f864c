"""Jobs may work on what belongs to a whole tenant."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0006_calls_by_job"),
    ]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="scope",
            field=models.UUIDField(
                help_text="What the job works on: the id of a conversation; for reviews the job's own id; for vectors of what belongs to no conversation the tenant's."
            ),
        ),
    ]
