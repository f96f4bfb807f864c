"""Notes and their earlier versions are counted to what their tenants store."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import CountStored

COLUMNS = ["label", "description", "content", "excerpt", "metadata"]


class Migration(migrations.Migration):
    dependencies = [
        ("notes", "0005_token_sizes"),
        ("tenancy", "0011_stored_sizes_are_kept"),
    ]
    operations = [
        CountStored("notes_note", COLUMNS, changes=True),
        CountStored("notes_noteversion", COLUMNS),
    ]
