"""Packages that take long to load, and that most installations never call."""

from importlib import import_module
from typing import Any


class LatePackage:
    """Stands for a package, and imports it when something is taken from it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


openai = LatePackage("openai")
"""Half a second and 35 MB in each process, where no endpoint is configured for nothing."""
onnxruntime = LatePackage("onnxruntime")
"""20 MB in each process, also in those that never embed."""
