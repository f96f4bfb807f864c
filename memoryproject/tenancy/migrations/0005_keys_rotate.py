"""A key's secret can be replaced, the one before it then ends; a key may have a rate of its own."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("tenancy", "0004_policies"),
    ]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="previous_hash",
            field=models.CharField(
                blank=True,
                help_text="Of the secret before the last rotation; empty: there was none.",
                max_length=64,
                null=True,
                unique=True,
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="previous_until",
            field=models.DateTimeField(
                blank=True, help_text="From then on the secret before it is refused.", null=True
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="rate",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Calls a minute; 0: no limit; empty: as the server's settings say.",
                null=True,
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=Q(previous_hash=None, previous_until=None)
                | Q(previous_hash__isnull=False, previous_until__isnull=False),
                name="tenancy_apikey_previous_has_its_end",
            ),
        ),
    ]
