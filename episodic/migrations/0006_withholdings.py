"""What a source said can be withheld: kept, but neither learnt from nor served."""

import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantPolicy, AddTenantReference

RANGE = models.Func(
    models.F("first_seq"),
    models.F("last_seq"),
    django.contrib.postgres.fields.ranges.RangeBoundary(inclusive_lower=True, inclusive_upper=True),
    function="int8range",
    output_field=django.contrib.postgres.fields.ranges.BigIntegerRangeField(),
)


def refer_to(table, **options):
    return memoryproject.tenancy.fields.TenantForeignKey(
        db_constraint=False,
        null=True,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="+",
        to=table,
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0005_policies"),
        ("tenancy", "0003_managing_keys"),
    ]

    operations = [
        migrations.CreateModel(
            name="Withholding",
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
                    "since",
                    models.DateTimeField(
                        help_text="What was received from then on, by the server's clock."
                    ),
                ),
                (
                    "speaker",
                    models.TextField(blank=True, help_text="The messages' name; empty: any."),
                ),
                (
                    "role",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("user", "user"),
                            ("assistant", "assistant"),
                            ("system", "system"),
                            ("tool", "tool"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "actor",
                    models.CharField(help_text="Who did it: a person or a key.", max_length=200),
                ),
                ("reason", models.TextField(help_text="Why, in the person's own words.")),
                (
                    "made",
                    models.JSONField(default=dict, help_text="What it came to, in numbers."),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("lifted_at", models.DateTimeField(help_text="NULL: it stands.", null=True)),
                ("lifted_by", models.CharField(blank=True, max_length=200)),
                ("conversation", refer_to("episodic.conversation", help_text="Empty: in any.")),
                ("posted_by", refer_to("tenancy.apikey", help_text="The key that posted it.")),
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
                        fields=("tenant", "id"), name="episodic_withholding_tenant_id"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="episodic_withholding_reasoned",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantReference("episodic_withholding", "conversation_id", "episodic_conversation"),
        AddTenantReference("episodic_withholding", "posted_by_id", "tenancy_apikey"),
        AddTenantPolicy("episodic_withholding"),
        migrations.AddField(
            model_name="conversation",
            name="withheld_count",
            field=models.PositiveBigIntegerField(
                default=0,
                help_text="Messages that are withheld: kept, neither learnt from nor served.",
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="withheld_by",
            field=refer_to(
                "episodic.withholding",
                help_text="Why it was taken apart: it is a record, and holds no message any more.",
            ),
        ),
        AddTenantReference("episodic_episode", "withheld_by_id", "episodic_withholding"),
        migrations.AddField(
            model_name="message",
            name="withheld_by",
            field=refer_to(
                "episodic.withholding",
                help_text="Why it is neither learnt from nor served; NULL: it is.",
            ),
        ),
        AddTenantReference("episodic_message", "withheld_by_id", "episodic_withholding"),
        migrations.RemoveConstraint(model_name="episode", name="episodic_episode_no_overlap"),
        migrations.AddConstraint(
            model_name="episode",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                condition=models.Q(("withheld_by", None)),
                expressions=[("conversation", "="), (RANGE, "&&")],
                name="episodic_episode_no_overlap",
            ),
        ),
    ]
