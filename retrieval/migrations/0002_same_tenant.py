"""A receipt cannot name what belongs to another tenant."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantReference


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0001_initial")]
    operations = [
        AddTenantReference("retrieval_retrieval", "conversation_id", "episodic_conversation"),
        AddTenantReference("retrieval_retrieval", "asked_by_id", "tenancy_apikey"),
        AddTenantReference("retrieval_retrieval", "review_job_id", "jobs_job"),
        AddTenantReference("retrieval_retrievalhit", "retrieval_id", "retrieval_retrieval"),
    ]
