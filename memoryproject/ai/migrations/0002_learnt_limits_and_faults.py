"""What an operator must mend, and what was learnt of a model's limits."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ai", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="breaker",
            name="characters_at_most",
            field=models.PositiveIntegerField(
                blank=True, help_text="Of an embedding model: characters of one text.", null=True
            ),
        ),
        migrations.AddField(
            model_name="breaker",
            name="context_tokens",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Size of its context, prompt and answer, in tokens.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="breaker",
            name="fault",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="What an operator must fix; empty: nothing known.",
                max_length=300,
            ),
        ),
        migrations.AddField(
            model_name="breaker",
            name="learnt_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When the limits below were found out; they hold an hour.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="breaker",
            name="texts_at_most",
            field=models.PositiveIntegerField(
                blank=True, help_text="Of an embedding model: texts in one request.", null=True
            ),
        ),
    ]
