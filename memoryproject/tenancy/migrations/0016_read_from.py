"""Which position of the log reading must have reached, where replicas are read from."""

from django.db import migrations, models

HELP = "Of the log, behind {}: a replica must have come so far."


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0015_key_usage")]
    operations = [
        migrations.AddField(
            model_name="apikey",
            name="read_from",
            field=models.BigIntegerField(
                blank=True, editable=False, help_text=HELP.format("its last write"), null=True
            ),
        ),
        migrations.AddField(
            model_name="tenant",
            name="read_from",
            field=models.BigIntegerField(
                blank=True, editable=False, help_text=HELP.format("the last erasure"), null=True
            ),
        ),
    ]
