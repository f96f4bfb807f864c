"""Roles of people in single tenants."""

import django.db.models.deletion
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

import memoryproject.database.ids
from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("tenancy", "0013_links_of_keys"),
    ]
    operations = [
        migrations.CreateModel(
            name="Membership",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryproject.database.ids.make_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "role",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="auth.group",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "across_tenants",
                "default_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="tenancy_membership_tenant_id"
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "person", "role"), name="tenancy_membership_once"
                    ),
                ],
            },
            managers=[
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("tenancy_membership"),
    ]
