"""Each key says how its answers print links."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenancy", "0012_keys_of_users"),
    ]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="links",
            field=models.CharField(
                choices=[
                    ("defanged", "changed so that nothing follows them"),
                    ("plain", "as they were said"),
                ],
                db_default="defanged",
                default="defanged",
                help_text="How texts for prompts print links, where a call does not say.",
                max_length=8,
            ),
        ),
    ]
