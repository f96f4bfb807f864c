"""Keeps by how much a speaker's clock was ahead of UTC: his days go by it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("episodic", "0005_message_by_user")]

    operations = [
        migrations.AddField(
            model_name="message",
            name="utc_offset",
            field=models.SmallIntegerField(
                db_default=0,
                default=0,
                help_text="Minutes that the agent's clock was ahead of UTC, which gives the"
                " speaker's day.",
            ),
        ),
    ]
