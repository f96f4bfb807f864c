"""Keeps the states of a message's tokens beside its vector; a job makes those of before."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("indexing", "0009_drop_indexes_by_conversation")]

    operations = [
        migrations.AddField(
            model_name="searchvector",
            name="states",
            field=models.BinaryField(
                null=True,
                help_text="Of a message the states of its tokens, by"
                " memoryproject.ai.token_states; NULL: the model has none, or they are still to"
                " be made.",
            ),
        ),
    ]
