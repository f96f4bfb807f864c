"""People stay within their tenant, and are seen by it alone."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantPolicy, AddTenantReference


class Migration(migrations.Migration):
    dependencies = [("people", "0001_initial"), ("tenancy", "0009_policies_are_forced")]
    operations = [
        AddTenantReference("people_alias", "person_id", "people_person"),
        AddTenantReference("people_merge", "person_id", "people_person"),
        AddTenantReference("people_merge", "into_id", "people_person"),
        AddTenantPolicy("people_person"),
        AddTenantPolicy("people_alias"),
        AddTenantPolicy("people_merge"),
    ]
