"""Who may run the playground."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0003_by_conversation"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="retrieval",
            options={
                "base_manager_name": "across_tenants",
                "permissions": [("run_playground", "Can run searches in the playground")],
            },
        ),
    ]
