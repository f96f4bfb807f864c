from django.apps import AppConfig


class ErasureConfig(AppConfig):
    name = "wings.erasure"
    verbose_name = "Audit"
