"""Takes the types of events from the wings that declare them; no table changes."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from wings.events.types import list_choices

TYPE = models.CharField(choices=list_choices, max_length=32)
TYPES = ArrayField(
    base_field=TYPE,
    blank=True,
    default=list,
    help_text="Event types that it receives; empty: all.",
)


class Migration(migrations.Migration):
    dependencies = [("events", "0001_initial")]

    operations = [
        migrations.AlterField(model_name="event", name="type", field=TYPE),
        migrations.AlterField(model_name="notification", name="type", field=TYPE),
        migrations.AlterField(model_name="webhook", name="types", field=TYPES),
    ]
