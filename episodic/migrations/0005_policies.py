"""Only rows of the tenant that is acted for are seen and written."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [("episodic", "0004_episodes_in_order")]
    operations = [
        AddTenantPolicy("episodic_conversation"),
        AddTenantPolicy("episodic_episode"),
        AddTenantPolicy("episodic_message"),
        AddTenantPolicy("episodic_review"),
        AddTenantPolicy("episodic_reveal"),
    ]
