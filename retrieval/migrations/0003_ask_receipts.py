"""Receipts of answers to questions that a language model answered."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0002_profile_receipts")]

    operations = [
        migrations.AlterField(
            model_name="retrieval",
            name="kind",
            field=models.CharField(
                choices=[
                    ("retrieve", "retrieve_memory"),
                    ("retrieve_raw", "retrieve_memory/raw"),
                    ("context", "context_pre_retrieve"),
                    ("search", "search"),
                    ("reconstruct", "reconstruct_context"),
                    ("profile", "profile"),
                    ("ask", "ask"),
                ],
                max_length=16,
            ),
        ),
    ]
