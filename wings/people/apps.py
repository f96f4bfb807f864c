from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "wings.people"
    verbose_name = "Memory"
