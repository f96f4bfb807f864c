"""Keeps the statistics of words of each user, beside those of each conversation."""

from django.db import migrations, models

from memoryproject.tenancy.migration_operations import read_sql

STOP_COUNTING = """
DROP FUNCTION public.memory_count_units() CASCADE;
DROP FUNCTION public.memory_add_units(integer, public.memory_unit[]);
DROP FUNCTION public.memory_count_words(uuid, uuid, text);
DROP TYPE public.memory_unit;
"""
STOP_COUNTING_BY_USER = """
DROP FUNCTION public.memory_count_units() CASCADE;
DROP FUNCTION public.memory_add_units(public.memory_unit[]);
DROP FUNCTION public.memory_count_words(uuid, uuid, uuid, text);
DROP TYPE public.memory_unit;
SELECT set_config('memory.tenant', '*', true);
DELETE FROM indexing_shelfsize WHERE user_scope IS NOT NULL;
DELETE FROM indexing_wordcount WHERE user_scope IS NOT NULL;
"""


class Migration(migrations.Migration):
    dependencies = [("indexing", "0002_user_scope")]

    operations = [
        migrations.RunSQL(STOP_COUNTING, read_sql(__file__, "counting")),
        migrations.RemoveConstraint(model_name="shelfsize", name="indexing_shelf_size_one_a_shelf"),
        migrations.AddConstraint(
            model_name="shelfsize",
            constraint=models.UniqueConstraint(
                fields=("tenant", "conversation", "shelf", "user_scope"),
                name="indexing_shelf_size_one_a_shelf",
                nulls_distinct=False,
            ),
        ),
        migrations.RemoveConstraint(model_name="wordcount", name="indexing_word_count_one_a_word"),
        migrations.AddConstraint(
            model_name="wordcount",
            constraint=models.UniqueConstraint(
                fields=("tenant", "conversation", "shelf", "slot", "user_scope"),
                name="indexing_word_count_one_a_word",
                nulls_distinct=False,
            ),
        ),
        migrations.RunSQL(read_sql(__file__, "counting_by_user"), STOP_COUNTING_BY_USER),
    ]
