"""Tables of tenants and their keys, and the base of all tables with tenants' rows."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.db.models import Q

from memoryproject.database.constraints import check, unique
from memoryproject.database.ids import make_id
from memoryproject.tenancy import walls
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.managers import TenantManager
from memoryproject.text.cleaning import DEFANGED, PLAIN


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
    read_from = models.BigIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text="Log position of the last erasure: a replica must have reached it.",
    )

    class Meta:
        permissions = [("set_budget", "Can set what a day may cost")]

    def __str__(self) -> str:
        return self.name

    def change_setting(self, name: str, value: Any = models.NOT_PROVIDED) -> None:
        """Store one setting of this tenant; without a value, delete it.

        The row is locked, as others may be changing other settings at the same time.
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
    users_by: ClassVar[str] = ""
    """Column with a row's user, or with its conversation; empty: none."""

    def __str__(self) -> str:
        return f"{getattr(self, 'kind', self._meta.verbose_name)} {self.pk}"

    def _do_update(self, *args: Any, **options: Any) -> Any:
        """Update the row by its whole key: Django only knows the id."""
        rows, *rest = args
        return super()._do_update(rows.filter(tenant_id=self.tenant_id), *rest, **options)

    def refresh_from_db(
        self, using: Any = None, fields: Any = None, from_queryset: Any = None
    ) -> None:
        if from_queryset is None and "tenant_id" in self.__dict__:
            rows = type(self).across_tenants.using(using or self._state.db)
            from_queryset = rows.filter(tenant_id=self.tenant_id)
        super().refresh_from_db(using, fields, from_queryset)

    def delete(self, using: Any = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:
        rows = type(self).across_tenants.using(using or self._state.db)
        return rows.filter(tenant_id=self.tenant_id, id=self.id).delete()

    @classmethod
    def of_users(cls, users: Sequence[str]) -> Q:
        """Return the condition on rows that a key bound to these users may see."""
        if not cls.users_by:
            return Q()
        home: Any = cls._meta.get_field(cls.users_by).related_model
        if home is None:
            return Q(**{f"{cls.users_by}__in": users})
        theirs = home.across_tenants.filter(walls.rows_seen(), home.of_users(users))
        return Q(**{f"{cls.users_by}__in": theirs})

    class Meta:
        abstract = True
        base_manager_name = "across_tenants"


class StoredSize(TenantModel):
    """A part of what a tenant stores; the sum of its rows is the total.

    Triggers on messages and notes update it in the same transaction. If all rows are locked, a
    trigger adds another one, so that no writer waits.
    """

    row_count = models.BigIntegerField(help_text="Messages, notes and their earlier versions.")
    byte_count = models.BigIntegerField(help_text="Their texts and metadata, in UTF-8.")

    def __str__(self) -> str:
        return f"{self.row_count} rows, {self.byte_count} bytes"


class Scope(models.TextChoices):
    INGEST = "ingest", "post messages, write notes and links"
    READ = "read", "retrieve and list"
    CURATE = "curate", "correct, invalidate and undo"
    ADMIN = "admin", "look after jobs, and erase"


DEFAULT_SCOPES = [
    ("", "as the tenant's settings say"),
    ("conversation", "in the conversation"),
    ("user", "in all conversations of its user"),
    ("tenant", "in the tenant"),
]
"""Possible default scopes of a key's retrieve calls."""


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
        help_text="Hash of the secret before the last rotation; empty: none.",
    )
    previous_until = models.DateTimeField(
        null=True, blank=True, help_text="Time from which the old secret is refused."
    )
    scopes = ArrayField(
        models.CharField(max_length=16, choices=Scope.choices), help_text="What the key may do."
    )
    user_ids = ArrayField(
        models.TextField(),
        default=list,
        db_default=[],
        blank=True,
        help_text="Users whose conversations and notes it may access; empty: all of the tenant.",
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
    links = models.CharField(
        max_length=8,
        choices=[
            (DEFANGED, "changed so that nothing follows them"),
            (PLAIN, "as they were said"),
        ],
        default=DEFANGED,
        db_default=DEFANGED,
        help_text="How texts for prompts print links, where a call does not say.",
    )
    default_scope = models.CharField(
        max_length=12,
        choices=DEFAULT_SCOPES,
        default="",
        db_default="",
        blank=True,
        help_text="Where calls that retrieve look, if they do not say.",
    )
    read_from = models.BigIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text="Log position of its last write: a replica must have reached it.",
    )

    class Meta(TenantModel.Meta):
        verbose_name = "API key"
        permissions = [("manage_apikey", "Can make and revoke keys")]
        constraints = [
            check(
                "tenancy_apikey_previous_has_its_end",
                Q(previous_hash=None, previous_until=None)
                | Q(previous_hash__isnull=False, previous_until__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def state_at(self, moment: datetime) -> str:
        """Return `active`, `expired` or `revoked`."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= moment else "active"


class Membership(TenantModel):
    """A person's role in one tenant; a person's groups are roles in all tenants."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.ForeignKey(Group, on_delete=models.PROTECT, related_name="+")

    class Meta(TenantModel.Meta):
        default_manager_name = "across_tenants"  # of the form on the page of a person
        constraints = [unique("tenancy_membership_once", "tenant person role")]

    def __str__(self) -> str:
        return f"{self.role} of {self.tenant}"


class KeyUsage(TenantModel):
    """The calls of a key on one day (UTC)."""

    key = TenantForeignKey(APIKey, db_index=False)
    day = models.DateField()
    calls = models.BigIntegerField(help_text="Answered calls, whatever the answer.")
    errors = models.BigIntegerField(help_text="Answers from 400 to 499, without 429.")
    refused = models.BigIntegerField(help_text="Answers 429: it called too often.")
    faults = models.BigIntegerField(help_text="Answers from 500 on.")
    bytes_in = models.BigIntegerField(help_text="Bytes of the bodies that it sent.")
    bytes_out = models.BigIntegerField(help_text="Bytes of the answers.")
    latencies = ArrayField(
        models.BigIntegerField(),
        help_text="Calls by latency: place n, from 0 on, within 2 ** (n / 2) ms.",
    )
    failures = models.JSONField(
        null=True,
        help_text="Calls by what was answered from 400 on: status, method, route and message; the "
        "20 most frequent, each with its number and an address that it came from of late. NULL: "
        "none, or counted by an earlier version.",
    )

    class Meta(TenantModel.Meta):
        verbose_name = "usage of a key"
        verbose_name_plural = "usage of keys"
        constraints = [unique("tenancy_keyusage_one_a_day", "tenant key day")]

    def __str__(self) -> str:
        return f"{self.calls} calls on {self.day}"
