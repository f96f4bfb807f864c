"""An approximate index cannot be of another tenant's conversation."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantReference


class Migration(migrations.Migration):
    dependencies = [("indexing", "0008_vector_indexes")]
    operations = [
        AddTenantReference("indexing_vectorindex", "conversation_id", "episodic_conversation"),
    ]
