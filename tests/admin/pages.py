"""Which pages the admin has."""

from __future__ import annotations

import re

from django.contrib import admin
from django.db import models
from django.urls import reverse

from memoryproject.adminkit.base import ReadOnlyAdmin

READ_ONLY = [
    model for model, shown_by in admin.site._registry.items() if isinstance(shown_by, ReadOnlyAdmin)
]


def page(model: type[models.Model], name: str, *ids: object) -> str:
    """Return the address of a model's `changelist`, `add`, `change` or `delete`."""
    label = f"{model._meta.app_label}_{model._meta.model_name}"
    return reverse(f"admin:{label}_{name}", args=ids)


def newest(model: type[models.Model]) -> models.Model:
    """Return the newest row of any tenant; every table must have one."""
    rows = getattr(model, "across_tenants", model._default_manager)
    row = rows.order_by("-pk").first()
    assert row is not None, f"no {model.__name__}"
    return row


def seen(shown: object) -> str:
    """Return a page, or a part of one, without what only a screen reader says."""
    return re.sub(r'<span class="console-heard">[^<]*</span>', "", str(shown))
