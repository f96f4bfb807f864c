"""Each table of tenants' rows has a policy, and a few statements alone read past one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, models

from jobs.models import WorkerRestart
from memoryproject.ai.models import Breaker
from memoryproject.tenancy.models import Tenant, TenantModel
from tests.guards.test_tenant_walls import MODELS, OURS
from wings.events.models import MailChoice

LABELS = [*OURS, "ai"]
BELONGS_TO_NOBODY: dict[type[models.Model], str] = {
    MailChoice: "a person's, about mails that each are about one tenant",
    WorkerRestart: "of the processes that work for all tenants",
    Breaker: "the state of a model, which all tenants share",
}
"""Our tables without a tenant, each with the reason."""
READ_BY_STATEMENTS = {
    "indexing_searchunit": "its index of words is useless under a policy: decisions/023",
}
"""Tables whose policy holds for writing alone, each with the reason."""
WHOSE = (
    "(({column} = (NULLIF(NULLIF(current_setting('memory.tenant'::text, true), ''::text),"
    " '*'::text))::uuid) OR (current_setting('memory.tenant'::text, true) = '*'::text))"
)
"""How the catalogue writes the condition that every policy has."""


def tables_of_tenants() -> dict[str, str]:
    """Return the column by which each table names its tenant."""
    ours = [model for model in MODELS if issubclass(model, TenantModel)]
    return {model._meta.db_table: "tenant_id" for model in ours} | {Tenant._meta.db_table: "id"}


def policies_in_the_catalogue() -> dict[tuple[str, str], tuple[str, str | None, str | None]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tablename, cmd, permissive, qual, with_check, roles::text FROM pg_policies"
        )
        rows = cursor.fetchall()
    assert {(permissive, roles) for _, _, permissive, _, _, roles in rows} == {
        ("PERMISSIVE", "{public}")
    }
    squeeze = re.compile(r"\s+")
    return {
        (table, command): (table, *(text and squeeze.sub(" ", text) for text in (qual, check)))
        for table, command, _, qual, check, _ in rows
    }


@pytest.mark.django_db
def test_each_table_of_tenants_has_the_policy_and_no_other() -> None:
    expected: dict[tuple[str, str], tuple[str, str | None, str | None]] = {}
    for table, column in tables_of_tenants().items():
        whose = WHOSE.format(column=column)
        expected[table, "ALL"] = (table, whose, whose)
    for table in READ_BY_STATEMENTS:
        expected[table, "SELECT"] = (table, "true", None)
    assert policies_in_the_catalogue() == expected


@pytest.mark.django_db
def test_the_policies_are_on_and_hold_the_owner_too() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, relforcerowsecurity, row_security_active(oid) FROM pg_class "
            "WHERE relname = ANY(%s) AND relkind = 'r'",
            [list(tables_of_tenants())],
        )
        found = {name: (forced, active) for name, forced, active in cursor.fetchall()}
    assert found == dict.fromkeys(tables_of_tenants(), (True, True))


def test_each_of_our_tables_belongs_to_a_tenant_or_says_why_not() -> None:
    models_of_ours = [model for model in apps.get_models() if model._meta.app_label in LABELS]
    without = {model for model in models_of_ours if model._meta.db_table not in tables_of_tenants()}
    assert without == set(BELONGS_TO_NOBODY)
    named = {model._meta.app_label for model in apps.get_models()}
    theirs = {"admin", "auth", "contenttypes", "sessions", "django_q", "axes"}
    theirs |= {"account", "mfa", "socialaccount", "usersessions"}  # of people who sign in
    assert named - theirs == set(LABELS), "an app whose tables nobody has looked at"


SOURCES = [
    path
    for path in settings.BASE_DIR.rglob("*")
    if path.suffix in {".py", ".sql"}
    and path.relative_to(settings.BASE_DIR).parts[0] in {*OURS, "memoryproject", "wings"}
    and "migrations" not in path.parts
]
MENTION = re.compile(r"(?:FROM|JOIN|UPDATE|INTO)\s+indexing_searchunit\b")
OF_A_TENANT = re.compile(r"tenant_id = %\(tenant\)s")
DOORS = {
    "retrieval/sql/find.sql",
    "retrieval/sql/hybrid.sql",
    "retrieval/sql/profile.sql",
}
"""The statements that agents' searches come to: each mention of a table names the tenant."""
FOR_PEOPLE = {
    "indexing/sql/tenant_words.sql": "the admin searches all tenants with it",
    "indexing/sql/pool_by_index.sql": "a part of the same statement",
    "indexing/sql/pool_by_walking.sql": "another part of it",
}
"""Statements that no agent comes to."""


def named(path: Path) -> str:
    return path.relative_to(settings.BASE_DIR).as_posix()


def test_the_open_table_are_read_by_reviewed_statements_alone() -> None:
    found = {named(path) for path in SOURCES if MENTION.search(path.read_text(encoding="utf-8"))}
    assert found == DOORS | set(FOR_PEOPLE)


@pytest.mark.parametrize("door", sorted(DOORS))
def test_each_mention_of_an_open_table_names_the_tenant(door: str) -> None:
    text = (settings.BASE_DIR / door).read_text(encoding="utf-8")
    starts = [found.start() for found in MENTION.finditer(text)]
    assert starts
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        assert OF_A_TENANT.search(text[start:end]), text[start : start + 200]


def test_nothing_but_these_reads_the_open_table_of_all_tenants() -> None:
    """By their models it would be `across_tenants`, which is searched for here."""
    across = re.compile(r"\bSearchUnit\.across_tenants\b")
    found = {named(path) for path in SOURCES if across.search(path.read_text(encoding="utf-8"))}
    assert found == set()
