"""Who owns what: tenants, their keys, and the base of every table they own."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.db.models import Q

from memoryproject.database.ids import make_id
from memoryproject.tenancy.managers import TenantManager


class Tenant(models.Model):
    """The isolation boundary: owns keys, conversations and memories. Nothing crosses it."""

    id = models.UUIDField(primary_key=True, default=make_id, editable=False)
    name = models.CharField(
        max_length=200, unique=True, help_text="What people call this tenant; unique."
    )
    settings = models.JSONField(
        default=dict, blank=True, help_text="Overrides of the server's defaults, by name."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        permissions = [("set_budget", "Can set what a day may cost")]

    def __str__(self) -> str:
        return self.name

    def change_setting(self, name: str, value: Any = models.NOT_PROVIDED) -> None:
        """Store one setting of this tenant, or without a value take it away.

        The row is locked: others may be changing other settings at the same time.
        """
        with transaction.atomic():
            row = Tenant.objects.select_for_update(no_key=True).get(id=self.id)
            row.settings.pop(name, None)
            if value is not models.NOT_PROVIDED:
                row.settings[name] = value
            row.save(update_fields=["settings"])
        self.settings = row.settings


class TenantModel(models.Model):
    """Base of every table whose rows belong to a tenant."""

    id = models.UUIDField(primary_key=True, default=make_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)

    objects = TenantManager()
    across_tenants = models.Manager()

    class Meta:
        abstract = True
        base_manager_name = "across_tenants"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "id"], name="%(app_label)s_%(class)s_tenant_id"
            )
        ]


class StoredSize(TenantModel):
    """A part of what a tenant stores; the sum of its rows is all of it.

    Triggers on the tables of messages and notes keep it, within the transaction that writes
    there. One that finds all rows locked adds another: no writer waits for the next.
    """

    row_count = models.BigIntegerField(help_text="Messages, notes and their earlier versions.")
    byte_count = models.BigIntegerField(help_text="Their texts and metadata, in UTF-8.")

    def __str__(self) -> str:
        return f"{self.row_count} rows, {self.byte_count} bytes"


class Scope(models.TextChoices):
    """What a key may do."""

    INGEST = "ingest", "post messages, write notes and links"
    READ = "read", "retrieve and list"
    CURATE = "curate", "correct, invalidate and undo"
    ADMIN = "admin", "look after jobs, and erase"


class APIKey(TenantModel):
    """A bearer secret of a tenant. Only its keyed hash is stored."""

    name = models.CharField(max_length=200, help_text="Who or what uses the key.")
    prefix = models.CharField(
        max_length=12, help_text="The first characters of the secret, to tell keys apart."
    )
    hash = models.CharField(
        max_length=64, unique=True, help_text="HMAC-SHA256 of the secret under the server's pepper."
    )
    previous_hash = models.CharField(
        max_length=64,
        null=True,
        blank=True,
        unique=True,
        help_text="Of the secret before the last rotation; empty: there was none.",
    )
    previous_until = models.DateTimeField(
        null=True, blank=True, help_text="From then on the secret before it is refused."
    )
    scopes = ArrayField(
        models.CharField(max_length=16, choices=Scope.choices), help_text="What the key may do."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: never.")
    revoked_at = models.DateTimeField(null=True, blank=True, help_text="Empty: still valid.")
    last_used_at = models.DateTimeField(
        null=True, blank=True, help_text="To the minute; empty: never used."
    )
    rate = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Calls a minute; 0: no limit; empty: as the server's settings say.",
    )

    class Meta(TenantModel.Meta):
        verbose_name = "API key"
        permissions = [("manage_apikey", "Can make and revoke keys")]
        constraints = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(
                condition=Q(previous_hash=None, previous_until=None)
                | Q(previous_hash__isnull=False, previous_until__isnull=False),
                name="tenancy_apikey_previous_has_its_end",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def state_at(self, moment: datetime) -> str:
        """Return `active`, `expired` or `revoked`."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= moment else "active"
