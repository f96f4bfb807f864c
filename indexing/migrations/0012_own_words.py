"""Units know which words are their own, and functions say by which terms they are found.

A term is a word's slot, told apart by the kind of the unit, so that an index over all
units answers for one kind without reading the others.
"""

from django.db import migrations, models

# None is STRICT: what is inlined costs a third.
CREATE = """
CREATE FUNCTION public.memory_term(kind text, lexeme text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (public.memory_slot(lexeme) + CASE WHEN kind IN ('fact', 'message') THEN 0 ELSE 1 END)
        * CASE WHEN kind IN ('fact', 'episode') THEN 1 ELSE -1 END
$$;
CREATE FUNCTION public.memory_own(content text, own_words integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN own_words IS NULL THEN content ELSE pg_catalog.array_to_string(
        (pg_catalog.string_to_array(content, ' '))[1:own_words], ' '
    ) END
$$;
CREATE FUNCTION public.memory_terms(
    kind text, language text, content text, own_words integer
) RETURNS integer[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(public.memory_term(kind, lexeme)), '{}')
    FROM pg_catalog.unnest(pg_catalog.tsvector_to_array(
        public.memory_ts(language, public.memory_own(content, own_words))
    )) AS lexeme
$$;
"""
DROP = """
DROP FUNCTION public.memory_terms(text, text, text, integer);
DROP FUNCTION public.memory_own(text, integer);
DROP FUNCTION public.memory_term(text, text);
"""


class Migration(migrations.Migration):
    dependencies = [("indexing", "0011_word_counts_are_kept")]
    operations = [
        migrations.AddField(
            model_name="searchunit",
            name="own_words",
            field=models.IntegerField(
                help_text="How many of its words are its own; the neighbours' come behind. NULL: all.",
                null=True,
            ),
        ),
        migrations.RunSQL(CREATE, DROP),
    ]
