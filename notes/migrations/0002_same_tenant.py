"""Notes, their versions and links stay within their tenant."""

from django.db import migrations

from memoryproject.tenancy.migration_operations import AddTenantReference


class Migration(migrations.Migration):
    dependencies = [
        ("notes", "0001_initial"),
        ("episodic", "0001_initial"),
        ("indexing", "0001_initial"),
        ("tenancy", "0002_initial"),
    ]
    operations = [
        AddTenantReference("notes_note", "id", "indexing_memory"),
        AddTenantReference("notes_note", "conversation_id", "episodic_conversation"),
        AddTenantReference("notes_note", "made_by_id", "tenancy_apikey"),
        AddTenantReference("notes_noteversion", "note_id", "notes_note"),
        AddTenantReference("notes_link", "from_memory_id", "indexing_memory"),
        AddTenantReference("notes_link", "to_memory_id", "indexing_memory"),
    ]
