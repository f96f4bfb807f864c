"""Distributes a migrated database on a coordinator of Citus, step by step.

What blocks a move (foreign keys, triggers, policies on the owner) is removed first, and stored in a
table, from which it is restored. Until then nothing is served: only the owner may use the schema.
The catalog shows what is done, so the next run continues after a killed one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from django.db import transaction

from memoryproject.database.clock import execute
from memoryproject.tenancy.walls import across_tenants

REFERENCE = ["tenancy_apikey", "tenancy_tenant"]
"""Tables on every node: a key is looked up before its tenant is known."""
LOCAL = ["events_notification", "jobs_job", "jobs_llmcall", "tenancy_membership"]
"""Tables on the coordinator: workers lock jobs of all tenants, and people see several tenants."""
ANCHOR = "episodic_conversation"
"""The table with whose shards all others are co-located."""
BESIDE_ROWS = ["memory_erase_history", "memory_erase_import", "memory_forget_reasons"]
"""Functions of the owner that run on the node of the tenant in their first argument."""
SAVED = "public.memory_undistributed"
"""Table of what was removed, and of each table's row count; deleted at the end."""

TABLES = f"""
SELECT c.oid, c.relname, coalesce(t.citus_table_type, 'local') AS kind, t.colocation_id,
    CASE WHEN c.relname = ANY(%(local)s) THEN 'local'
        WHEN c.relname = ANY(%(reference)s) THEN 'reference' ELSE 'distributed' END AS wanted
FROM pg_class c LEFT JOIN citus_tables t ON t.table_name = c.oid
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
    AND (c.relname = 'tenancy_tenant' OR EXISTS (SELECT FROM pg_attribute
        WHERE attrelid = c.oid AND attname = 'tenant_id' AND NOT attisdropped))
ORDER BY c.relname <> '{ANCHOR}', c.relname
"""
# No foreign key can lead from a table of many nodes to one of the coordinator alone.
OBSTACLES = f"""
WITH ours AS MATERIALIZED ({TABLES})
SELECT format('ALTER TABLE %%I DROP CONSTRAINT %%I', o.relname, k.conname),
    CASE WHEN o.wanted = 'local' OR t.wanted <> 'local' THEN
        format('ALTER TABLE %%I ADD CONSTRAINT %%I %%s', o.relname, k.conname,
            pg_get_constraintdef(k.oid)) ELSE '' END, 1 AS step
FROM pg_constraint k JOIN ours o ON o.oid = k.conrelid JOIN ours t ON t.oid = k.confrelid
WHERE k.contype = 'f' AND (o.wanted <> 'local' OR t.wanted <> 'local')
UNION ALL
SELECT format('DROP TRIGGER %%I ON %%I', g.tgname, o.relname), pg_get_triggerdef(g.oid), 2
FROM pg_trigger g JOIN ours o ON o.oid = g.tgrelid
WHERE NOT g.tgisinternal AND o.wanted <> 'local'
UNION ALL
SELECT format('ALTER TABLE %%I NO FORCE ROW LEVEL SECURITY', o.relname),
    format('ALTER TABLE %%I FORCE ROW LEVEL SECURITY', o.relname), 3
FROM pg_class c JOIN ours o ON o.oid = c.oid
WHERE c.relforcerowsecurity AND o.wanted <> 'local'
ORDER BY 3, 1
"""
# Functions call each other: nodes get all but the one that writes a table they do not have.
# Citus passes on only functions created after it; an older database has others.
UNKNOWN_FUNCTIONS = """
SELECT format('SELECT create_distributed_function(%L)', p.oid::regprocedure) FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = current_user::regrole
    AND p.proname <> 'memory_take_call'
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_dist_object o
        WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid)
ORDER BY p.oid
"""
FUNCTIONS = """
SELECT p.oid::regprocedure::text FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY(%(beside)s) AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_dist_object o
    WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid AND o.force_delegation)
ORDER BY 1
"""
IS_WALLED = """
SELECT relrowsecurity AND relforcerowsecurity AND EXISTS (
    SELECT FROM pg_policy WHERE polrelid = pg_class.oid)
FROM pg_class WHERE oid = '%s'::regclass
"""
USERS_OF_SCHEMA = """
SELECT -1, 'GRANT USAGE ON SCHEMA public TO ' || name
FROM unnest(ARRAY['memory_app', 'public']) AS name
WHERE has_schema_privilege(name, 'public', 'USAGE')
"""
"""PostgreSQL lets everybody use the schema, until this is revoked."""
_ask = partial(execute, using="owner")
NAMES = {"local": LOCAL, "reference": REFERENCE, "beside": BESIDE_ROWS}


class NotDistributed(Exception):
    """The database cannot be distributed, or its state is wrong at the end."""


def check_citus() -> None:
    """Raise NotDistributed if the database does not have Citus."""
    if not _ask("SELECT 1 FROM pg_extension WHERE extname = 'citus'"):
        raise NotDistributed("Citus is not in this database: CREATE EXTENSION citus first.")


def plan() -> Iterator[str]:
    if not _is_begun():
        yield from (take for take, _, _ in _list_obstacles())
    yield from (statement for (statement,) in _ask(UNKNOWN_FUNCTIONS))
    yield from _list_moves()
    yield from _list_functions()
    backs = _list_backs() if _is_begun() else [(0, back) for _, back, _ in _list_obstacles()]
    yield from (back for _, back in backs if back)


def _list_obstacles() -> list[tuple[Any, ...]]:
    return _ask(OBSTACLES, NAMES) if any(_list_moves()) else []


def _list_moves() -> Iterator[str]:
    for _, name, kind, _, wanted in _ask(TABLES, NAMES):
        if kind != "local" or wanted == "local":
            continue
        if wanted == "reference":
            yield f"SELECT create_reference_table('{name}')"
        else:
            beside = "none" if name == ANCHOR else ANCHOR
            beside = f"colocate_with => '{beside}'"
            yield f"SELECT create_distributed_table('{name}', 'tenant_id', {beside})"


def _list_functions() -> Iterator[str]:
    for (name,) in _ask(FUNCTIONS, NAMES):
        yield (f"SELECT create_distributed_function('{name}', 'whose', "
               f"colocate_with => '{ANCHOR}', force_delegation => TRUE)")  # fmt: skip


def _list_backs() -> list[tuple[Any, ...]]:
    return _ask(f"SELECT place, back FROM {SAVED} WHERE place > 0 ORDER BY place")


def _is_begun() -> bool:
    return _ask("SELECT to_regclass(%s) IS NOT NULL", [SAVED]) == [(True,)]


def run() -> Iterator[str]:
    """Do all remaining steps, and yield each statement when it is done.

    Raises:
        NotDistributed: a check failed; nothing is served yet.
    """
    if not _is_begun() and (obstacles := _list_obstacles()):
        _begin(obstacles)
        yield from (take for take, _, _ in obstacles)
    for statement in [*(each for (each,) in _ask(UNKNOWN_FUNCTIONS)), *_list_moves()]:
        _ask(statement)
        yield statement
    if _is_begun():
        for _, name, kind, _, _ in _ask(TABLES, NAMES):
            if kind != "local":  # what was copied still lies on the coordinator's disk
                _ask("SELECT truncate_local_data_after_distributing_table(%s)", [name])
    for statement in _list_functions():
        _ask(statement)
        yield statement
    for place, back in _list_backs() if _is_begun() else []:
        with transaction.atomic(using="owner"):
            _ask("SELECT set_config('citus.enable_unsafe_triggers', 'on', true)")
            if back:
                _ask(back)
            _ask(f"DELETE FROM {SAVED} WHERE place = %s", [place])
        if back:
            yield back
    check()
    if _is_begun():
        with transaction.atomic(using="owner"):
            for (grant,) in _ask(f"SELECT back FROM {SAVED} WHERE place < 0"):
                _ask(grant)
            _ask(f"DROP TABLE {SAVED}")


@across_tenants()
def _begin(obstacles: list[tuple[Any, ...]]) -> None:
    """Count rows and remove what blocks the move, in one transaction."""
    with transaction.atomic(using="owner"):
        _ask(f"CREATE TABLE {SAVED} (place int NOT NULL, back text NOT NULL, row_count bigint)")
        _ask(f"INSERT INTO {SAVED} {USERS_OF_SCHEMA}")
        _ask("REVOKE USAGE ON SCHEMA public FROM memory_app, PUBLIC")
        for take, _, _ in obstacles:
            _ask(take)
        for _, name, _, _, _ in _ask(TABLES, NAMES):
            _ask(f"INSERT INTO {SAVED} SELECT 0, %s, count(*) FROM {name}", [name])
        for place, (_, back, _) in enumerate(obstacles, start=1):
            _ask(f"INSERT INTO {SAVED} VALUES (%s, %s, NULL)", [place, back])


@across_tenants()
def check() -> None:
    """Check kind, row count and shards of every table of tenants.

    Raises:
        NotDistributed: a table has the wrong kind, is not co-located, lost rows, or a shard lacks a
            policy for its owner.
    """
    faults: list[str] = []
    tables = _ask(TABLES, NAMES)
    counts = (
        dict(_ask(f"SELECT back, row_count FROM {SAVED} WHERE place = 0")) if _is_begun() else {}
    )
    with transaction.atomic(using="owner"):
        for _, name, kind, _, wanted in tables:
            faults += [f"{name} is {kind}, not {wanted}"] * (kind != wanted)
            there = _ask(f"SELECT count(*) FROM {name}")[0][0]
            if counts.get(name, there) != there:
                faults.append(f"{name} has {there} rows of {counts[name]}")
    if len({group for _, _, kind, group, _ in tables if kind == "distributed"}) > 1:
        faults.append("not all tables lie side by side")
    for _, name, kind, _, _ in tables:
        if kind != "local":
            walled = _ask("SELECT result FROM run_command_on_placements(%s, %s)", [name, IS_WALLED])
            if says := "; ".join(sorted({says for (says,) in walled} - {"t"})):
                faults.append(f"a shard of {name} has no policy or cannot be asked ({says})")
    if faults:
        raise NotDistributed("; ".join(faults))


def count_kinds() -> Counter[str]:
    return Counter(kind for _, _, kind, _, _ in _ask(TABLES, NAMES))
