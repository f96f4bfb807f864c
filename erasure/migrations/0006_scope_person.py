"""A person is erased everywhere: `person` is a scope of erasures."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("erasure", "0005_scope_import"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="erasure",
            name="erasure_erasure_scope_known",
        ),
        migrations.AlterField(
            model_name="erasure",
            name="scope",
            field=models.CharField(
                choices=[
                    ("message", "a message"),
                    ("conversation", "a conversation"),
                    ("note", "a note"),
                    ("user", "a user's notes"),
                    ("person", "a person"),
                    ("import", "an import"),
                    ("tenant", "a tenant"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="erasure",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "scope__in",
                        [
                            "message",
                            "conversation",
                            "note",
                            "user",
                            "person",
                            "import",
                            "tenant",
                        ],
                    )
                ),
                name="erasure_erasure_scope_known",
            ),
        ),
    ]
