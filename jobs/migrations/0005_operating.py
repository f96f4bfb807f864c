"""Who may retry and cancel jobs."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0004_holder"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="job",
            options={
                "base_manager_name": "across_tenants",
                "permissions": [("operate_job", "Can retry and cancel")],
            },
        ),
    ]
