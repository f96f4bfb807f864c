"""Receipts keep what the text of an answer was made of."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0011_policies"),
    ]

    operations = [
        migrations.AddField(
            model_name="retrieval",
            name="parts",
            field=models.JSONField(
                help_text="What the text was made of: our words, and references to what was said; "
                "NULL: not kept.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="retrieval",
            name="signature",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="Keyed hash of the text that was served; empty: not kept.",
                max_length=64,
            ),
        ),
    ]
