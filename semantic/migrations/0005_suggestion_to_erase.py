"""Suggestions to erase a fact that a user asked to forget."""

import django.db.models.deletion
from django.db import migrations, models

import memoryproject.tenancy.fields


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0001_initial"),
        ("semantic", "0004_fact_user_id"),
    ]

    operations = [
        migrations.AddField(
            model_name="suggestion",
            name="withholding",
            field=memoryproject.tenancy.fields.TenantForeignKey(
                db_constraint=False,
                help_text="For a suggestion to erase: the quarantine of the fact's messages.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="episodic.withholding",
            ),
        ),
        migrations.AlterField(
            model_name="fact",
            name="invalidated_because",
            field=models.CharField(
                blank=True,
                choices=[
                    ("superseded", "the world changed"),
                    ("wrong", "it was never true"),
                    ("reverted", "what brought it was undone"),
                    ("erased", "it was erased"),
                    ("waiting", "it waits for a curator"),
                    ("forgotten", "a user asked to forget it"),
                ],
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="suggestion",
            name="kind",
            field=models.CharField(
                choices=[
                    ("contradiction", "contradiction"),
                    ("duplicate", "duplicate"),
                    ("erase", "erase"),
                ],
                max_length=16,
            ),
        ),
    ]
