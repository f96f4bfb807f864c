"""Facts can be erased one by one, with what was quarantined to forget them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("erasure", "0003_erasure_subject_of_people"),
        ("tenancy", "0003_installation"),
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
                    ("fact", "a fact with the messages that were to be forgotten with it"),
                    ("user", "a user's notes"),
                    ("person", "a person"),
                    ("import", "an import"),
                    ("retention", "what a retention policy no longer keeps"),
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
                            "fact",
                            "user",
                            "person",
                            "import",
                            "retention",
                            "tenant",
                        ],
                    )
                ),
                name="erasure_erasure_scope_known",
            ),
        ),
    ]
