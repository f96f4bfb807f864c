"""Jobs may keep the mirror."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0007_scope_of_tenant"),
    ]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="kind",
            field=models.CharField(
                choices=[
                    ("segment", "segment a window"),
                    ("flush", "segment and consolidate everything now"),
                    ("consolidate", "distil episodes into facts"),
                    ("review", "rate served episodes"),
                    ("embed", "make the vectors that are missing"),
                    ("mirror", "write what has changed to the mirror"),
                ],
                max_length=16,
            ),
        ),
    ]
