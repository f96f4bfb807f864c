"""Only rows of the tenant that is acted for are seen and written."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0010_reconstructions")]
    operations = [
        AddTenantPolicy("retrieval_retrieval"),
        AddTenantPolicy("retrieval_retrievalhit"),
        AddTenantPolicy("retrieval_context"),
        AddTenantPolicy("retrieval_contextsection"),
    ]
