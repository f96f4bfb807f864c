"""What was said and what happened stays within its tenant."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantReference


class Migration(migrations.Migration):
    dependencies = [("episodic", "0001_initial"), ("indexing", "0001_initial")]
    operations = [
        AddTenantReference("episodic_episode", "id", "indexing_memory"),
        AddTenantReference("episodic_episode", "conversation_id", "episodic_conversation"),
        AddTenantReference("episodic_message", "conversation_id", "episodic_conversation"),
        AddTenantReference("episodic_message", "posted_by_id", "tenancy_apikey"),
        AddTenantReference("episodic_message", "episode_id", "episodic_episode"),
        AddTenantReference("episodic_message", "quarantined_by_id", "jobs_job"),
        AddTenantReference("episodic_review", "job_id", "jobs_job"),
        AddTenantReference("episodic_review", "episode_id", "episodic_episode"),
    ]
