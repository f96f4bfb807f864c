"""Only rows of the tenant that is acted for are seen and written."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [("console", "0007_curators_write_notes")]
    operations = [
        AddTenantPolicy("console_exportrun"),
        AddTenantPolicy("console_importrun"),
        AddTenantPolicy("console_importbatch"),
    ]
