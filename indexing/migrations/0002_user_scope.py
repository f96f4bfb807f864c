"""A column for the user under whose scope something is found; empty in what is there already."""

import django.db.models.deletion
from django.db import migrations, models

import memoryproject.tenancy.fields

OF_A_ROW = models.UUIDField(
    help_text="The scope of the user whose it is, from `owners`; NULL: none.", null=True
)


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0002_conversation_in_user_scope"),
        ("indexing", "0001_initial"),
    ]

    operations = [
        *(
            migrations.AddField(model_name=name, name="user_scope", field=OF_A_ROW)
            for name in ("searchunit", "searchvector", "shelfsize", "wordcount")
        ),
        migrations.AddField(
            model_name="vectorindex",
            name="user_scope",
            field=models.UUIDField(
                help_text="The scope, where it is a user's. Without either the scope is the whole tenant.",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="vectorindex",
            name="conversation",
            field=memoryproject.tenancy.fields.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                help_text="The scope, where it is a conversation.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="episodic.conversation",
            ),
        ),
        migrations.RemoveConstraint(
            model_name="vectorindex", name="indexing_vector_index_one_a_scope"
        ),
        migrations.AddConstraint(
            model_name="vectorindex",
            constraint=models.UniqueConstraint(
                fields=("tenant", "conversation", "shelf", "model", "user_scope"),
                name="indexing_vector_index_one_a_scope",
                nulls_distinct=False,
            ),
        ),
    ]
