"""Changesets that say which facts went with an erased message."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("semantic", "0012_policies"),
    ]

    operations = [
        migrations.AlterField(
            model_name="changeset",
            name="kind",
            field=models.CharField(
                choices=[
                    ("consolidation", "consolidation run"),
                    ("curation", "curation"),
                    ("import", "import"),
                    ("revert", "revert of another"),
                    ("erasure", "erasure of a message"),
                ],
                max_length=16,
            ),
        ),
    ]
