"""Only rows of the tenant that is acted for are seen and written."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [("notes", "0002_same_tenant")]
    operations = [
        AddTenantPolicy("notes_note"),
        AddTenantPolicy("notes_noteversion"),
        AddTenantPolicy("notes_link"),
    ]
