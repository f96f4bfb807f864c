"""The table of versions of instructions."""

from collections.abc import Iterable, Mapping, Sequence

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from memoryproject.database.constraints import check, index
from memoryproject.tenancy.models import TenantModel
from semantic.engines import Instructions

ENTRIES = ("keep", "never", "words", "labels")
"""Columns with what instructions say."""


class InstructionVersion(TenantModel):
    """What to learn from conversations of a tenant, or of one agent; a save is a new version.

    The newest that is not undone is in effect.
    """

    agent_id = models.TextField(blank=True, help_text="Its agent; empty: all of the tenant.")
    keep = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text="What to keep as facts, though it may seem small.",
    )
    never = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text="What never to keep as a fact: words, or a description.",
    )
    words = models.JSONField(
        default=list, blank=True, help_text="Words of the trade, each a `word` and its `meaning`."
    )
    labels = models.JSONField(
        default=list,
        db_default=[],
        blank=True,
        help_text="Labels beside the categories, each a `label` and an `example`.",
    )
    actor = models.CharField(max_length=200, help_text="Who saved it: a key, a person.")
    created_at = models.DateTimeField(db_default=Now())
    undone_at = models.DateTimeField(null=True, help_text="NULL: it was not undone.")
    undone_by = models.CharField(max_length=200, blank=True)

    class Meta(TenantModel.Meta):
        verbose_name = "version of instructions"
        verbose_name_plural = "instructions"
        constraints = [
            check(
                "instructions_undone_by_somebody",
                Q(undone_at=None, undone_by="") | Q(undone_at__isnull=False),
            )
        ]
        indexes = [index("instructions_by_agent", "tenant agent_id id")]

    def __str__(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M} by {self.actor}"

    def read(self) -> Instructions:
        """Return the entries as engines take them."""
        return read(**{name: getattr(self, name) for name in ENTRIES})


def read(
    *,
    keep: Sequence[str],
    never: Sequence[str],
    words: Iterable[Mapping[str, str]],
    labels: Iterable[Mapping[str, str]],
) -> Instructions:
    """Return instructions in the form that engines take."""
    pairs = tuple((entry["word"], entry["meaning"]) for entry in words)
    labelled = tuple((entry["label"], entry["example"]) for entry in labels)
    return Instructions(tuple(keep), tuple(never), pairs, labelled)
