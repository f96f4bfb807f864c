"""Looks for what an erasure has left, in every table of the tenant."""

import time
from dataclasses import dataclass, field

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import OperationalError, connection, transaction
from django.db.models import CharField, Count, JSONField, Q, TextField
from django.db.models.functions import Cast

from erasure.models import Erasure
from memoryproject.edge.errors import Unavailable
from memoryproject.tenancy.models import TenantModel

RECORDS = {
    "episodic.conversation", "semantic.changeset", "semantic.change", "jobs.job", "jobs.llmcall",
    "events.event", "console.pageread",
}  # fmt: skip
"""Tables whose rows outlive an erasure with the id alone: what they said is emptied."""
SECONDS_AT_MOST = 20
WRITTEN = (CharField, TextField, JSONField, ArrayField)


@dataclass(slots=True)
class Proof:
    """How much was looked through, and in which tables something was found."""

    tables: int = 0
    columns: int = 0
    rows: int = 0
    hits: dict[str, int] = field(default_factory=dict)
    """Rows that name it still, by table."""
    records: dict[str, int] = field(default_factory=dict)
    """Rows with its id that say that something ran, or was there once, and hold no content."""


def scan(erasure: Erasure, words: str = "") -> Proof:
    """Look for the id of what was erased in every column of the tenant's rows that could hold it.

    With words, which are not stored, for these instead. The erasure itself is left out.

    Raises:
        Unavailable: the tables are so large that it takes longer than 20 seconds in sum.
    """
    proof = Proof()
    until = time.monotonic() + SECONDS_AT_MOST
    tables = [model for model in apps.get_models() if issubclass(model, TenantModel)]
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for model in tables:
                left_ms = max(1, round(1000 * (until - time.monotonic())))
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(left_ms)])
                _scan_table(model, erasure, words, proof)
    except OperationalError as error:
        raise Unavailable("It takes too long now. Try again when less is going on.") from error
    return proof


def _scan_table(model: type[TenantModel], erasure: Erasure, words: str, proof: Proof) -> None:
    rows = model.across_tenants.filter(tenant_id=erasure.tenant_id).exclude(pk=erasure.pk)
    finds = Q(pk=None)  # none
    for column in model._meta.concrete_fields:
        if isinstance(column, WRITTEN):
            rows = rows.alias(**{f"{column.attname}_text": Cast(column.attname, TextField())})
            finds |= Q(**{f"{column.attname}_text__icontains": words or str(erasure.target)})
        elif not words and column.db_type(connection) == "uuid":
            finds |= Q(**{column.attname: erasure.target})
        else:
            continue
        proof.columns += 1
    sums = rows.aggregate(rows=Count("pk"), hits=Count("pk", filter=finds))
    proof.tables, proof.rows = proof.tables + 1, proof.rows + sums["rows"]
    if sums["hits"]:
        is_record = not words and model._meta.label_lower in RECORDS
        (proof.records if is_record else proof.hits)[str(model._meta.verbose_name_plural)] = sums[
            "hits"
        ]
