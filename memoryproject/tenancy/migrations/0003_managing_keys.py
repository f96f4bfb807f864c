"""Who may manage keys and budgets."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("tenancy", "0002_initial"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="apikey",
            options={
                "base_manager_name": "across_tenants",
                "permissions": [("manage_apikey", "Can make and revoke keys")],
                "verbose_name": "API key",
            },
        ),
        migrations.AlterModelOptions(
            name="tenant",
            options={"permissions": [("set_budget", "Can set what a day may cost")]},
        ),
    ]
