"""The index cannot point into another tenant."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantReference

# Searches read these tables index-only, which needs a fresh visibility map.


class Migration(migrations.Migration):
    dependencies = [("indexing", "0001_initial"), ("episodic", "0001_initial")]
    operations = [
        AddTenantReference("indexing_searchunit", "conversation_id", "episodic_conversation"),
        AddTenantReference("indexing_searchunit", "memory_id", "indexing_memory"),
        AddTenantReference("indexing_searchvector", "conversation_id", "episodic_conversation"),
        AddTenantReference("indexing_searchvector", "memory_id", "indexing_memory"),
        AddTenantReference("indexing_searchvector", "unit_id", "indexing_searchunit"),
        migrations.RunSQL(
            "ALTER TABLE indexing_searchunit SET (autovacuum_vacuum_insert_scale_factor = 0.02)",
            "ALTER TABLE indexing_searchunit RESET (autovacuum_vacuum_insert_scale_factor)",
        ),
        migrations.RunSQL(
            "ALTER TABLE indexing_searchvector SET (autovacuum_vacuum_insert_scale_factor = 0.02)",
            "ALTER TABLE indexing_searchvector RESET (autovacuum_vacuum_insert_scale_factor)",
        ),
    ]
