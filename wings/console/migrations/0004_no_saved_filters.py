"""Drops the searches that people have saved: the address of each search is there to be kept."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("console", "0003_no_right_to_save")]
    operations = [migrations.DeleteModel("SavedFilter")]
