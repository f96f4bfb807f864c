"""What was erased leaves gaps in seq, and keys that store nothing any more."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0006_withholdings"),
        ("tenancy", "0002_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="erased_count",
            field=models.PositiveBigIntegerField(
                default=0, help_text="Messages that were erased: each leaves a gap in seq."
            ),
        ),
        migrations.AlterField(
            model_name="message",
            name="seq",
            field=models.BigIntegerField(
                help_text="Place in the conversation: 1, 2, 3, …; only what was erased leaves a gap."
            ),
        ),
        migrations.CreateModel(
            name="ErasedKey",
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
                    "digest",
                    models.CharField(
                        help_text="HMAC-SHA256 of what the key was used for and the key.",
                        max_length=64,
                    ),
                ),
                (
                    "erased_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
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
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="episodic_erasedkey_tenant_id"
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "digest"), name="episodic_erased_key_once"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("episodic_erasedkey"),
    ]
