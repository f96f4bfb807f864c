"""The product's settings without the wing that WITHOUT names."""

import os

from memoryproject.settings import *  # noqa: F403
from memoryproject.settings import INSTALLED_APPS as APPS
from memoryproject.settings import WINGS as ALL

WINGS = tuple(name for name in ALL if name != os.environ["WITHOUT"])
INSTALLED_APPS = [name for name in APPS if name != os.environ["WITHOUT"]]
