"""The product's settings without the wings that WITHOUT names, nor what they put into settings."""

import os

from memoryproject import settings as whole
from memoryproject.settings import *  # noqa: F403

GONE = tuple(os.environ["WITHOUT"].split())


def keep(names: list[str]) -> list[str]:
    return [name for name in names if not f"{name}.".startswith(tuple(f"{one}." for one in GONE))]


WINGS = tuple(keep(list(whole.WINGS)))
INSTALLED_APPS = keep(whole.INSTALLED_APPS)
MIDDLEWARE = keep(whole.MIDDLEWARE)
# What names a part of a wing that is gone is the library's own again.
for _name, _value in vars(whole).items():
    if isinstance(_value, str) and not keep([_value]):
        del globals()[_name]
