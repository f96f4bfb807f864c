"""Curators may change notes and links."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("notes", "0003_policies")]
    operations = [
        migrations.AlterModelOptions(
            name="note",
            options={
                "base_manager_name": "across_tenants",
                "permissions": [
                    ("curate_note", "Can change and delete notes, draw and remove links")
                ],
            },
        )
    ]
