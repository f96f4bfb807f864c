"""Finds the neighbours of an episode."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("episodic", "0003_reveals")]
    operations = [
        AddIndexConcurrently(
            model_name="episode",
            index=models.Index(
                fields=["conversation", "first_seq"], name="episodic_episode_in_order"
            ),
        ),
    ]
