"""Drops the indexes that were narrowed by conversation first: those by owner have taken over."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations

OLD = (
    ("searchunit", "indexing_unit_by_words"),
    ("searchunit", "indexing_unit_by_time"),
    ("searchvector", "indexing_vector_covering"),
    ("searchvector", "indexing_vector_wide"),
    ("searchvector", "indexing_vector_by_time"),
)


class Migration(migrations.Migration):
    atomic = False  # beside reads and writes

    dependencies = [("indexing", "0008_vector_time_of_owner")]

    operations = [RemoveIndexConcurrently(model_name=model, name=name) for model, name in OLD]
