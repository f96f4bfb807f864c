"""An index over the terms of all units, built while the server writes on."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("indexing", "0012_own_words")]
    operations = [
        AddIndexConcurrently(
            model_name="searchunit",
            index=django.contrib.postgres.indexes.GinIndex(
                models.Func(
                    models.F("kind"),
                    models.F("language"),
                    models.F("lexical_text"),
                    models.F("own_words"),
                    function="public.memory_terms",
                    output_field=django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), size=None
                    ),
                ),
                name="indexing_unit_by_terms",
            ),
        ),
    ]
