"""Only rows of the tenant that is acted for are seen and written."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [("semantic", "0011_waiting_facts")]
    operations = [
        AddTenantPolicy("semantic_changeset"),
        AddTenantPolicy("semantic_fact"),
        AddTenantPolicy("semantic_evidence"),
        AddTenantPolicy("semantic_change"),
    ]
