"""Searches every table of the tenant, and the mirror, for what an erasure has left."""

import os
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import DatabaseError, connection, transaction
from django.db.models import (
    CharField,
    Count,
    F,
    Func,
    JSONField,
    Q,
    QuerySet,
    TextField,
    Value,
)
from django.db.models.functions import Cast
from django.utils import timezone

from memoryproject.tenancy.models import TenantModel
from wings.erasure.models import Erasure, Scope
from wings.erasure.persons import Subject
from wings.erasure.spellings import FOLDED, find, match_ids, match_names, match_phrase
from wings.navigation import mirror
from wings.navigation.mirror import FolderAway

RECORDS = {
    "episodic.conversation", "semantic.changeset", "semantic.change", "jobs.job", "jobs.llmcall",
    "events.event", "console.pageread",
}  # fmt: skip
"""Tables whose rows remain after an erasure with only the id: their texts are cleared."""
AUDIT = {
    "actor", "assignee", "changed_by", "decided_by", "deleted_by", "lifted_by", "made_by", "owner",
    "person", "undone_by",
}  # fmt: skip
"""Text columns with the actor of a change: a key or admin login, kept on purpose."""
WROTE = {"changesets", "last_changeset"}
"""Columns in which an import's record keeps the ids of the changesets that it wrote."""
SECONDS_AT_MOST = 20
ROWS_NAMED = 20
"""Number of ids in a finding, per table."""
WRITTEN = (CharField, TextField, JSONField, ArrayField)
BETWEEN = "\x1f"
"""Separator of a row's columns while they are searched as one text."""


@dataclass(slots=True)
class Proof:
    """What was searched for, how far, and the tables with matches."""

    names: int = 0
    """Names that were searched for, in all spellings."""
    user_ids: int = 0
    tables: int = 0
    columns: int = 0
    rows: int = 0
    pages: int = 0
    """Files of the mirror."""
    at: str = ""
    """Time of the scan, in ISO 8601."""
    hits: dict[str, int] = field(default_factory=dict)
    """Number of rows that still match, by table."""
    row_ids: dict[str, list[str]] = field(default_factory=dict)
    """Ids of the first of these rows, by the label of the table, such as `episodic.message`."""
    records: dict[str, int] = field(default_factory=dict)
    """Rows that only record an event or an actor, without content."""
    skipped: list[str] = field(default_factory=list)
    """Tables, or the mirror, that could not be searched."""

    state: str = "clean"
    """`found`: something is left; `incomplete`: not all could be searched; else `clean`."""


def scan(erasure: Erasure, phrase: str = "") -> Proof:
    """Search for the erased subject's id in every column of the tenant's rows that may have it.

    With a phrase, which is not stored, search for that instead. The erasure itself is left out.
    """
    proof = Proof()
    if phrase:
        _scan_texts(erasure, match_phrase(phrase), proof)
    else:
        _scan_tables(proof, lambda model: _scan_for_id(model, erasure, proof))
        _conclude(proof)
    return proof


def scan_for_subject(erasure: Erasure) -> dict[str, Any] | None:
    """Search for the names and user ids of an erasure's person; return a `Proof` as JSON.

    The erasure only has them until it is done. None: it is not about a person, or an earlier
    version began it, which did not store names.
    """
    pattern = match_subject_of(erasure)
    if not pattern:
        return None
    subject = _get_subject(erasure)
    proof = Proof(names=len(subject.names), user_ids=len(subject.user_ids))
    _scan_texts(erasure, pattern, proof)
    return asdict(proof)


def match_subject_of(erasure: Erasure) -> str:
    """Return a pattern for the person or user of an erasure; empty: there is none."""
    subject = _get_subject(erasure)
    return "|".join(filter(None, (match_names(subject.names), match_ids(subject.user_ids))))


def _get_subject(erasure: Erasure) -> Subject:
    if erasure.scope == Scope.USER and erasure.subject:
        return Subject(user_ids=[erasure.subject])
    return Subject.load(erasure.subject if erasure.scope == Scope.PERSON else "")


def load(stored: dict[str, Any] | None) -> Proof | None:
    """Return the result of `scan_for_subject`; None: there was no search."""
    return Proof(**stored) if stored else None


def _scan_texts(erasure: Erasure, pattern: str, proof: Proof) -> None:
    _scan_tables(proof, lambda model: _scan_for_pattern(model, erasure, pattern, proof))
    if mirror.is_on():
        _scan_mirror(erasure.tenant_id, pattern, proof)
    _conclude(proof)


def _conclude(proof: Proof) -> None:
    proof.state = "found" if proof.hits else "incomplete" if proof.skipped else "clean"


def list_tables() -> list[type[TenantModel]]:
    return [model for model in apps.get_models() if issubclass(model, TenantModel)]


def list_texts(model: type[TenantModel]) -> list[Any]:
    """Return the columns of a table that may have text written by people."""
    return [
        column
        for column in model._meta.concrete_fields
        if isinstance(getattr(column, "output_field", column), WRITTEN)  # generated ones, too
        and not column.choices
    ]


def _scan_tables(proof: Proof, scan_table: Callable[[type[TenantModel]], None]) -> None:
    """Search the tables one by one, for up to 20 seconds; note those that took too long."""
    until = time.monotonic() + SECONDS_AT_MOST
    proof.at = timezone.now().isoformat(timespec="seconds")
    for model in list_tables():
        left_ms = round(1000 * (until - time.monotonic()))
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                if left_ms <= 0:
                    raise DatabaseError
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(left_ms)])
                scan_table(model)
        except DatabaseError:  # usually it took too long; the erasure does not fail because of it
            proof.skipped.append(str(model._meta.verbose_name_plural))


def _rows_of(model: type[TenantModel], erasure: Erasure) -> QuerySet[Any]:
    return model.across_tenants.filter(tenant_id=erasure.tenant_id).exclude(pk=erasure.pk)


def _scan_for_id(model: type[TenantModel], erasure: Erasure, proof: Proof) -> None:
    rows, finds, records = _rows_of(model, erasure), Q(pk=None), Q(pk=None)
    for column in model._meta.concrete_fields:
        if isinstance(column, WRITTEN):
            rows = rows.alias(**{f"{column.attname}_text": Cast(column.attname, TextField())})
            found = Q(**{f"{column.attname}_text__icontains": str(erasure.target)})
        elif column.db_type(connection) == "uuid":
            found = Q(**{column.attname: erasure.target})
        else:
            continue
        proof.columns += 1
        if column.attname in WROTE or model._meta.label_lower in RECORDS:
            records |= found
        else:
            finds |= found
    _add_up(proof, model, rows, finds, records)


def _scan_for_pattern(
    model: type[TenantModel], erasure: Erasure, pattern: str, proof: Proof
) -> None:
    columns = list_texts(model)
    proof.columns += len(columns)
    rows = _rows_of(model, erasure).alias(
        searched_content=_fold([column for column in columns if column.attname not in AUDIT]),
        searched_audit=_fold([column for column in columns if column.attname in AUDIT]),
    )
    finds, records = Q(searched_content__regex=pattern), Q(searched_audit__regex=pattern)
    _add_up(proof, model, rows, finds, records)


def _fold(columns: list[Any]) -> Func:
    """Return a row's columns as one text to search; breaks in JSON become spaces."""
    text = TextField()
    parts: list[Any] = [Value("")]
    for column in columns:
        part: Any = Cast(F(column.attname), text)
        if isinstance(column, JSONField):
            breaks = Value(r"\\[nrtbf]"), Value(" "), Value("g")
            part = Func(part, *breaks, function="regexp_replace", output_field=text)
        parts.append(part)
    joined = Func(Value(BETWEEN), *parts, function="concat_ws", output_field=text)
    return Func(joined, template=FOLDED, output_field=text)


def _add_up(
    proof: Proof, model: type[TenantModel], rows: QuerySet[Any], finds: Q, records: Q
) -> None:
    counts = {name: Count("pk", filter=some) for name, some in (("a", finds), ("b", records))}
    sums = rows.aggregate(rows=Count("pk"), **counts)
    title = str(model._meta.verbose_name_plural)
    proof.tables, proof.rows = proof.tables + 1, proof.rows + sums["rows"]
    if sums["b"]:
        proof.records[title] = sums["b"]
    if sums["a"]:
        proof.hits[title] = sums["a"]
        ids = rows.filter(finds).order_by("pk").values_list("pk", flat=True)[:ROWS_NAMED]
        proof.row_ids[model._meta.label_lower] = [str(row_id) for row_id in ids]


def _scan_mirror(tenant_id: uuid.UUID, pattern: str, proof: Proof) -> None:
    """Search the pages of the mirror, for up to 20 seconds."""
    until, title = time.monotonic() + SECONDS_AT_MOST, "pages of the mirror"
    try:
        if not mirror.find_root().is_dir() or not os.access(mirror.find_root(), os.R_OK):
            raise FolderAway
        for _, path in mirror.pages_of(tenant_id):
            if time.monotonic() > until:
                raise TimeoutError
            with suppress(FileNotFoundError):  # it was over meanwhile
                text = path.read_text(encoding="utf-8", errors="replace")
                proof.pages += 1
                if find(pattern, text):
                    proof.hits[title] = proof.hits.get(title, 0) + 1
    except (OSError, FolderAway):
        proof.skipped.append(title)
