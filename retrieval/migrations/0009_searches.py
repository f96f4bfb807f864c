"""A search of a whole tenant leaves a receipt, too; nothing changes in the tables."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0008_contexts_same_tenant"),
    ]

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
                ],
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="retrievalhit",
            name="rank",
            field=models.PositiveIntegerField(
                help_text="1 is best: by kind of memory, of a search of all together."
            ),
        ),
        migrations.AlterField(
            model_name="retrievalhit",
            name="score",
            field=models.FloatField(
                help_text="RRF, for episodes times retrievability; of a search the relevance."
            ),
        ),
    ]
