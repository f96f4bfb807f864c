"""No key of a tenant's table goes without the tenant first, and no statement without naming him.

So the tables can be distributed by tenant: each statement is answered where one tenant's rows
lie, and each key holds there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import connection, models

from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import TenantModel
from memoryproject.tenancy.postgresql.schema import ON_ONE_NODE
from tests.guards.test_tenant_walls import OURS, TENANT_MODELS

TABLES = sorted(model._meta.db_table for model in TENANT_MODELS)
WITHOUT_TENANT = {
    "tenancy_tenant": "the tenants themselves: a copy on each node",
    "tenancy_allowance": "of keys and tenants alike, read before a tenant is known; on one node",
    "tenancy_installation": "what an installation has noted about itself",
    "events_mailchoice": "a person's",
    "jobs_workerrestart": "of the processes that work for all tenants",
    "ai_breaker": "the state of a model, which all tenants share",
}
"""Our tables whose rows belong to no tenant, each with the reason."""
UNIQUE_OVER_ALL = {
    ("tenancy_apikey", "tenancy_apikey_hash_key"): "a key is found before its tenant is known",
    ("tenancy_apikey", "tenancy_apikey_previous_hash_key"): "as above",
}
"""Keys of tenants' tables that must hold over all of them: such a table is copied to each node."""
STAY_ON_ONE_NODE = {
    "jobs_job": "workers take the job that is due of any tenant, and lock it",
    "tenancy_membership": "refers to Django's people and groups",
    "events_notification": "refers to Django's people",
}


def test_the_tables_that_nothing_refers_to_are_those_that_stay_on_one_node() -> None:
    referred = {
        field.related_model._meta.db_table
        for model in TENANT_MODELS
        for field in model._meta.local_fields
        if isinstance(field, TenantForeignKey)
    }
    assert referred & set(STAY_ON_ONE_NODE) == set(ON_ONE_NODE)
    of_people = {
        model._meta.db_table
        for model in TENANT_MODELS
        for field in model._meta.local_fields
        if field.is_relation and field.related_model._meta.app_label == "auth"
    }
    assert of_people | set(ON_ONE_NODE) == set(STAY_ON_ONE_NODE)


@pytest.mark.django_db
def test_each_of_our_tables_has_a_tenant_or_a_reason() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace"
        )
        found = {name for (name,) in cursor.fetchall() if name.split("_")[0] in {*OURS, "ai"}}
    assert found == {*TABLES, *WITHOUT_TENANT}


@pytest.mark.django_db
def test_no_generated_column_stands_before_the_tenant() -> None:
    """Citus counts columns without generated ones when it gives a tenant shards of his own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attrelid::regclass::text, attname FROM pg_attribute AS generated"
            " WHERE attgenerated <> '' AND attnum < (SELECT attnum FROM pg_attribute"
            " WHERE attrelid = generated.attrelid AND attname = 'tenant_id')"
        )
        assert cursor.fetchall() == []


@pytest.mark.django_db
def test_each_key_of_a_tenants_table_begins_with_the_tenant() -> None:
    """Primary keys, unique and exclusion constraints, unique indexes: all of these are indexes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indrelid::regclass::text, indexrelid::regclass::text, indisprimary,"
            " ARRAY(SELECT pg_get_indexdef(indexrelid, place, true)"
            "     FROM generate_series(1, indnkeyatts) AS place)"
            " FROM pg_index WHERE indrelid::regclass::text = ANY(%s)"
            " AND (indisunique OR indisexclusion)",
            [TABLES],
        )
        rows = cursor.fetchall()
    primary = {table: columns for table, _, is_primary, columns in rows if is_primary}
    assert primary == {table: ["tenant_id", "id"] for table in TABLES}
    without = {(table, name) for table, name, _, columns in rows if columns[0] != "tenant_id"}
    assert without == set(UNIQUE_OVER_ALL)


@pytest.mark.django_db
def test_each_reference_between_tables_of_tenants_compares_the_tenants() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f'"
            " AND conrelid::regclass::text = ANY(%s) AND confrelid::regclass::text = ANY(%s)",
            [TABLES, TABLES],
        )
        rows = cursor.fetchall()
    assert len(rows) > 40
    whole = re.compile(r"FOREIGN KEY \(tenant_id, \w+\) REFERENCES \w+\(tenant_id, id\)")
    assert [name for name, definition in rows if not whole.match(definition)] == []


@pytest.mark.parametrize("model", TENANT_MODELS, ids=lambda model: model.__name__)
def test_each_join_of_the_models_compares_the_tenants(model: type[TenantModel]) -> None:
    for field in model._meta.local_fields:
        if isinstance(field, TenantForeignKey):
            rows: models.QuerySet[TenantModel] = model.across_tenants.select_related(field.name)
            text = str(rows.query)
            assert re.search(r'JOIN .* ON \(.*"tenant_id" = [^ ]+"tenant_id"', text), text


FOLDERS = [settings.BASE_DIR / name for name in (*OURS, "memoryproject", "wings")]
WORDS = "WHERE|SET|JOIN|LEFT|CROSS|INNER|USING|ON|ORDER|GROUP|LIMIT|AND|OFFSET|UNION|VALUES"
MENTION = re.compile(
    rf"\b(?:FROM|JOIN|UPDATE|INTO|USING)\s+(?:public\.)?({'|'.join(TABLES)})\b"
    rf"(?:\s+(?:AS\s+)?(?!(?:{WORDS})\b)(\w+))?"
)
NAMED = (
    r"(?:\b{name}\.)?\btenant_id\s*(?:=|IN\b)"
    r"|=\s*(?:\b{name}\.)tenant_id\b"
    r"|USING\s*\((?:[\w, ]*\b)?tenant_id\b"
    r"|\bINTO\s+[\w.]+(?:\s+AS\s+\w+)?\s*\((?:\s*\w+,)*\s*tenant_id\b"
    r"|\{{(?:narrowed|of_tenant)\}}"
)
"""What names the tenant of a table, known by its own name or another in the statement."""
OVER_ALL_TENANTS = {
    "jobs/sql/next_job.sql": "the job that is due, of any tenant; its table stays on one node",
    "episodic/queries.py": "places in conversations of all tenants: people's searches find them",
    "indexing/migrations/0003_count_by_user.py": "taken back, it deletes what all users had",
    "indexing/approximate.py": "{} is the scope of an index, which begins with the tenant",
}

FENCED = re.compile(
    r"FROM \((SELECT [\w, ]+ FROM indexing_searchunit WHERE (?:(?! FROM ).)* OFFSET 0) ?\) AS \w+"
    r" WHERE tenant_id = "
)
"""What is read by another index than the tenant's, which is compared just outside: find.sql."""


def statements() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of all SQL that is written by hand."""
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*")):
            place = path.relative_to(settings.BASE_DIR).as_posix()
            if path.suffix == ".sql":
                yield place, path.read_text(encoding="utf-8")
            elif path.suffix == ".py":
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        yield place, node.value


def scopes(text: str) -> Iterator[str]:
    """Yield each SELECT or other statement by itself: without those that stand within it."""
    text = re.sub(r"--.*", "", text)
    while inner := re.search(r"\(([^()]*)\)", text):
        body = inner.group(1)
        is_query = re.search(r"\b(?:SELECT|INSERT|UPDATE|DELETE)\b", body)
        if is_query:
            yield from parts(body)
        kept = " " if is_query else f"⟨{body}⟩"
        text = text[: inner.start()] + kept + text[inner.end() :]
    yield from parts(text)


def parts(text: str) -> Iterator[str]:
    for part in re.split(r"\bUNION(?: ALL)?\b|;|\bLOOP\b|\bTHEN\n", text):
        yield part.replace("⟨", "(").replace("⟩", ")")


def mentions_without_tenant(text: str) -> Iterator[str]:
    squeezed = re.sub(r"\s+", " ", re.sub(r"--.*", "", text)).replace("( ", "(")
    fenced = {found.group(1).strip() for found in FENCED.finditer(squeezed)}
    for scope in scopes(text):
        for mention in MENTION.finditer(scope):
            table, alias = mention.groups()
            is_fenced = " ".join(scope.split()) in fenced
            if not is_fenced and not re.search(NAMED.format(name=alias or table), scope):
                yield f"{table} in {' '.join(scope.split())[:120]}"


def test_each_statement_names_the_tenant_for_each_table() -> None:
    found = {
        (place, mention)
        for place, text in statements()
        for mention in mentions_without_tenant(text)
        if place not in OVER_ALL_TENANTS
    }
    assert sorted(found) == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM semantic_fact WHERE id = %(id)s",
        "SELECT 1 FROM notes_link AS link WHERE link.tenant_id = %(tenant)s AND NOT EXISTS ("
        "SELECT FROM notes_note AS gone WHERE gone.id = link.to_memory_id)",
    ],
)
def test_a_statement_that_forgets_the_tenant_is_seen(text: str) -> None:
    assert list(mentions_without_tenant(text))
