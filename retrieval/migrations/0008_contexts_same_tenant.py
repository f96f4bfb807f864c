"""A context holds memories of its own tenant only."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantReference


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0007_contexts")]
    operations = [
        AddTenantReference("retrieval_context", "made_by_id", "tenancy_apikey"),
        AddTenantReference("retrieval_contextsection", "context_id", "retrieval_context"),
        AddTenantReference("retrieval_contextsection", "memory_id", "indexing_memory"),
    ]
