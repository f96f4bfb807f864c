"""Keys may be bound to users."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0011_stored_sizes_are_kept")]
    operations = [
        migrations.AddField(
            model_name="apikey",
            name="user_ids",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(),
                blank=True,
                db_default=[],
                default=list,
                help_text="Whose conversations and notes alone it may touch; empty: all of the "
                "tenant.",
                size=None,
            ),
        ),
    ]
