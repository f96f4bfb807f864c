from django.apps import AppConfig


class NotesConfig(AppConfig):
    name = "wings.notes"
    verbose_name = "Memory"
