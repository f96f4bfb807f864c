"""No statement is put together from values: what varies is a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from django.conf import settings

from tests.guards.test_sql import SOURCES

TAKES_SQL = {"execute", "executemany", "raw", "extra", "RawSQL", "mogrify", "copy"}


def built(node: ast.expr) -> bool:
    """Return whether an expression puts a text together out of others."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.FormattedValue) for part in node.values)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Mod, ast.Add))
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"format", "join", "replace"}
        and not _is_psycopg(node.func.value)
    )


def _is_psycopg(node: ast.expr) -> bool:
    """Return whether it is `sql.SQL(…)`, which quotes what is put in."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) in {"sql.SQL", "SQL"}


def find_built(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of each call that takes a statement which is put together."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        named = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else named
        if name in TAKES_SQL and built(node.args[0]):
            yield node.lineno, ast.unparse(node)[:120]


@pytest.mark.parametrize(
    "line",
    [
        'cursor.execute(f"SELECT {name}")',
        'cursor.execute("SELECT %s" % name)',
        'cursor.execute("SELECT " + name)',
        'cursor.execute("SELECT {}".format(name))',
        'cursor.executemany(f"INSERT {name}", rows)',
        'Fact.objects.raw(f"SELECT {name}")',
        'RawSQL(f"SELECT {name}", [])',
        'rows.extra(f"{name}")',
    ],
)
def test_what_is_put_together_is_found(line: str) -> None:
    assert list(find_built(line))


@pytest.mark.parametrize(
    "line",
    [
        'cursor.execute("SELECT %s", [name])',
        'cursor.execute(sql.SQL("SELECT {}").format(sql.Identifier(name)))',
        'cursor.execute(f"SELECT 1")',
    ],
)
def test_a_parameter_is_not(line: str) -> None:
    assert not list(find_built(line))


REVIEWED = {
    "indexing/approximate.py": 3,  # composed by psycopg, which quotes
    "wings/erasure/management/commands/erase.py": 1,  # likewise
    "wings/operations/upgrade/carrying.py": 1,  # likewise
    "indexing/services.py": 1,  # the names of two tables of ours
    "memoryproject/edge/replicas.py": 1,  # one of two expressions of ours
}
"""How many statements of a file are put together, and why that is safe."""


def test_no_source_puts_a_statement_together() -> None:
    found = {
        str(path.relative_to(settings.BASE_DIR)): list(find_built(path.read_text(encoding="utf-8")))
        for path in SOURCES
    }
    counted = {file: len(calls) for file, calls in found.items() if calls}
    assert counted == REVIEWED, {file: found[file] for file in counted}


def test_the_doors_past_the_orm_take_constants_alone() -> None:
    """`extra` and `raw` quote nothing: what varies goes into their parameters."""
    doors = 0
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if named and node.func.attr in {"extra", "raw"}:  # type: ignore[attr-defined]
                doors += 1
                given = {one.arg: one.value for one in node.keywords}  # type: ignore[attr-defined]
                texts = [*node.args, *(v for n, v in given.items() if n != "params")]  # type: ignore[attr-defined]
                if node.func.attr == "raw":  # type: ignore[attr-defined]
                    texts = texts[:1]  # behind the statement come its parameters
                for text in texts:
                    named_by = text.id if isinstance(text, ast.Name) else ""
                    ast.literal_eval(constants.get(named_by, text))
    assert doors, "there are some to look at"
