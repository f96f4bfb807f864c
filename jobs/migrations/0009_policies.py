"""Only rows of the tenant that is acted for are seen and written."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [("jobs", "0008_kind_mirror")]
    operations = [
        AddTenantPolicy("jobs_job"),
        AddTenantPolicy("jobs_llmcall"),
    ]
