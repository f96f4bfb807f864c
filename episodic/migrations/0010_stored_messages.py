"""Messages are counted to what their tenants store; nothing changes their texts."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import CountStored


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0009_token_sizes"),
        ("tenancy", "0011_stored_sizes_are_kept"),
    ]
    operations = [CountStored("episodic_message", ["content", "metadata"])]
