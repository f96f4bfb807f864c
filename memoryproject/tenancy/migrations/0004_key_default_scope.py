"""Where calls of a key look that do not say; empty in what is there already: as ever."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0003_installation")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="default_scope",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", "as the tenant's settings say"),
                    ("conversation", "in the conversation"),
                    ("user", "in all conversations of its user"),
                    ("tenant", "in the tenant"),
                ],
                db_default="",
                default="",
                help_text="Where calls that retrieve look, if they do not say.",
                max_length=12,
            ),
        ),
    ]
