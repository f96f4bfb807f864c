"""What the database knows of the installation it belongs to: the key pepper's fingerprint, …"""

from django.db import migrations

from memoryproject.tenancy.migration_operations import read_sql


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0002_ask_who_owns_the_function")]

    operations = [
        migrations.RunSQL(
            read_sql(__file__, "installation"), "DROP TABLE public.tenancy_installation"
        ),
    ]
