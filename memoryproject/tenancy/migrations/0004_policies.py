"""Only rows of the tenant that is acted for are seen and written."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0003_managing_keys")]
    operations = [
        AddTenantPolicy("tenancy_tenant", column="id"),
        AddTenantPolicy("tenancy_apikey"),
    ]
