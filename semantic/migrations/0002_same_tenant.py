"""What is held true stays within its tenant; its history is append-only."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantReference, ForbidChanges


class Migration(migrations.Migration):
    dependencies = [("semantic", "0001_initial"), ("indexing", "0001_initial")]
    operations = [
        AddTenantReference("semantic_changeset", "conversation_id", "episodic_conversation"),
        AddTenantReference("semantic_changeset", "reverts_id", "semantic_changeset"),
        AddTenantReference("semantic_fact", "id", "indexing_memory"),
        AddTenantReference("semantic_fact", "conversation_id", "episodic_conversation"),
        AddTenantReference("semantic_fact", "changeset_id", "semantic_changeset"),
        AddTenantReference("semantic_fact", "superseded_by_id", "semantic_fact"),
        AddTenantReference("semantic_evidence", "fact_id", "semantic_fact"),
        AddTenantReference("semantic_evidence", "episode_id", "episodic_episode"),
        AddTenantReference("semantic_evidence", "changeset_id", "semantic_changeset"),
        AddTenantReference("semantic_change", "changeset_id", "semantic_changeset"),
        ForbidChanges("semantic_changeset"),
        ForbidChanges("semantic_change"),
    ]
