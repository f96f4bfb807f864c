"""Only rows of the tenant that is acted for are seen and written."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [("indexing", "0014_parts_of_notes")]
    operations = [
        AddTenantPolicy("indexing_memory"),
        AddTenantPolicy("indexing_shelfsize"),
        AddTenantPolicy("indexing_wordcount"),
        AddTenantPolicy("indexing_vectorindex"),
        AddTenantPolicy("indexing_searchvector"),
        AddTenantPolicy("indexing_searchunit", reads=False),
    ]
