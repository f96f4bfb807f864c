"""Writes types.py, what each answer holds, from the API's description.

    python generate_types.py SCHEMA.json

Needs datamodel-code-generator. What a body takes is left out: methods name it.
`ruff check --fix` and `ruff format` bring it into the house's form.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TARGET = Path(__file__).parent / "src/memory_server_client/types.py"
OPTIONAL = "from typing import NotRequired\n"
FOR_CHECKERS = """from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import NotRequired
"""
"""Checkers bring typing_extensions; at run time Python 3.10 has no NotRequired, and needs none."""
HEAD = '"""What each answer of the API holds. Made by generate_types.py; not for editing."""'


def main(schema_file: str) -> None:
    """Write the types of all answers."""
    schema = json.loads(Path(schema_file).read_text(encoding="utf-8"))
    schemas = schema["components"]["schemas"]
    kept = {name: one for name, one in schemas.items() if not name.endswith("Request")}
    for one in kept.values():
        one.pop("description", None)
    document = {**schema, "paths": {}, "components": {"schemas": kept}}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "schema.json"
        source.write_text(json.dumps(document), encoding="utf-8")
        options = "--output-model-type=typing.TypedDict --target-python-version=3.10"
        options += " --input-file-type=openapi --use-union-operator --disable-timestamp"
        options += " --enum-field-as-literal=all --use-standard-collections --formatters=builtin"
        options += " --special-field-name-prefix="
        command = ["datamodel-codegen", f"--input={source}", f"--output={TARGET}"]
        subprocess.run([*command, *options.split()], check=True)
    lines = TARGET.read_text(encoding="utf-8").splitlines()
    code = "\n".join(line for line in lines if not line.startswith("#"))
    code = code.replace("typing_extensions", "typing").replace(OPTIONAL, FOR_CHECKERS)
    TARGET.write_text(f"{HEAD}\n{code}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
