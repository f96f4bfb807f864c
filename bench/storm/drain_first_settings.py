"""The product's settings, with the control `drain-first` in place of its segmentation."""

from importlib import import_module

from django.apps import AppConfig

from memoryproject.settings import *  # noqa: F403
from memoryproject.settings import INSTALLED_APPS as PRODUCT

INSTALLED_APPS = [*PRODUCT, "bench.storm.drain_first_settings.DrainFirst"]


class DrainFirst(AppConfig):
    """Loads the control once the product's models are there."""

    name = "bench.storm"
    label = "storm"

    def ready(self) -> None:
        """Install it."""
        import_module("bench.storm.drain_first").install()
