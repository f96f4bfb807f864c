"""How long each answer took."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0004_playground")]
    operations = [
        migrations.AddField(
            model_name="retrieval",
            name="latency_ms",
            field=models.PositiveIntegerField(
                help_text="From the checked question to its answer, before this was written; NULL: not measured.",
                null=True,
            ),
        ),
    ]
