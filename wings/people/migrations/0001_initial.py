"""Who is who."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Person",
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
                ("name", models.TextField(help_text="What people call them.")),
                (
                    "created_at",
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
                "verbose_name_plural": "people",
                "abstract": False,
                "base_manager_name": "across_tenants",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Merge",
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
                    "actor",
                    models.CharField(help_text="Who did it: a key, a person.", max_length=200),
                ),
                ("reason", models.TextField(help_text="Why, in their own words.")),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("undone_at", models.DateTimeField(help_text="NULL: it is in effect.", null=True)),
                ("undone_by", models.CharField(blank=True, max_length=200)),
                ("undone_because", models.TextField(blank=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
                (
                    "into",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="The person they were merged into.",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="people.person",
                    ),
                ),
                (
                    "person",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="The person who was merged.",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="people.person",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [models.Index(fields=["tenant", "into"], name="people_merge_by_into")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("undone_at", None)),
                        fields=("tenant", "person"),
                        name="people_merge_holds_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("person", models.F("into")), _negated=True),
                        name="people_merge_of_two",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Alias",
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
                    "kind",
                    models.CharField(
                        choices=[("user", "user_id"), ("speaker", "speaker's name")], max_length=8
                    ),
                ),
                (
                    "value",
                    models.TextField(help_text="As conversations, notes or messages have it."),
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
                (
                    "person",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="people.person",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "aliases",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(fields=["tenant", "person"], name="people_alias_by_person")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "kind", "value"), name="people_alias_of_one_person"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("people_alias"),
        AddTenantPolicy("people_merge"),
        AddTenantPolicy("people_person"),
    ]
