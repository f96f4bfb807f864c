"""Nothing parses what it rendered, and state is passed: two context variables are left."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

FOLDERS = [
    path.parent
    for path in settings.BASE_DIR.glob("*/__init__.py")
    if path.parent.name not in {"tests", "bench", "clients"}
]
RENDERERS = {"retrieval.markdown", "memoryproject.text.parts"}
PARSERS = set(
    "split rsplit splitlines partition rpartition find rfind index rindex removeprefix "
    "removesuffix startswith endswith match search fullmatch finditer findall".split()
)
RENDERING = {"join", "compose", "wrap_text", "render_recent"}
"""Functions of the renderers that return text, or the parts of one."""
ENDS = {("retrieval/markdown.py", "endswith")}
"""Whether a line break is missing at the end of a part, before the fence."""


def list_modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*.py")):
            name = str(path.relative_to(settings.BASE_DIR))
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def list_imports(tree: ast.Module) -> set[str]:
    """Return the modules that one imports, by their whole names."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def is_rendered(node: ast.expr) -> bool:
    """Return whether an expression is the text of an answer: `draft.text`, `join(parts)`."""
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        is_of_string = isinstance(function, ast.Attribute) and isinstance(
            function.value, ast.Constant
        )
        return name in RENDERING and not is_of_string
    owners = {"draft", "block", "chosen", "answer", "packed", "recent", "replay"}
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "text"
        and isinstance(node.value, ast.Name)
        and node.value.id in owners
    )


def list_parsed(tree: ast.Module) -> Iterator[str]:
    """Yield what a module calls to look into a rendered text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            looked_into = [node.func.value, *node.args]
            if node.func.attr in PARSERS and any(map(is_rendered, looked_into)):
                yield node.func.attr


def test_who_imports_a_renderer_looks_into_no_rendered_text() -> None:
    users = [(name, tree) for name, tree in list_modules() if list_imports(tree) & RENDERERS]
    assert {"retrieval/receipts/__init__.py", "retrieval/recall.py"} <= {name for name, _ in users}
    parsed = {(name, call) for name, tree in users for call in list_parsed(tree)}
    assert parsed == ENDS


def test_two_context_variables_are_left() -> None:
    owners = [
        name
        for name, tree in list_modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and "ContextVar" in ast.unparse(node.func)
    ]
    assert owners == ["memoryproject/process/scopes.py", "memoryproject/tenancy/walls.py"]


def test_folders_of_the_product_are_walked() -> None:
    assert {Path(folder).name for folder in FOLDERS} >= {"retrieval", "memoryproject", "wings"}
