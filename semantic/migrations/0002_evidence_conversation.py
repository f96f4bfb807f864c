"""Lets evidence say in which conversation it was said, where the fact is at home in another one."""

import django.db.models.deletion
from django.db import migrations

import memoryproject.tenancy.fields


class Migration(migrations.Migration):
    dependencies = [("semantic", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="evidence",
            name="conversation",
            field=memoryproject.tenancy.fields.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                help_text="The episode's, where that is not the fact's own; NULL: it is.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="episodic.conversation",
            ),
        ),
    ]
