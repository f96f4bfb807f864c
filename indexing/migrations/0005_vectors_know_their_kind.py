"""A vector says what it was made of, as its unit does."""

from django.db import migrations, models

FILL = """
UPDATE indexing_searchvector SET kind = unit.kind
FROM indexing_searchunit AS unit WHERE unit.id = unit_id
"""
KINDS = [
    ("episode", "title and summary of an episode"),
    ("message", "one message of an episode"),
    ("fact", "a fact"),
    ("note", "a note"),
]


class Migration(migrations.Migration):
    dependencies = [("indexing", "0004_word_functions")]
    operations = [
        migrations.AddField(
            "searchvector",
            "kind",
            models.CharField(max_length=8, choices=KINDS, default=""),
            preserve_default=False,
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
