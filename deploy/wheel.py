"""Runs the installed server: `memory-server run`, `login`, `stop`, or `manage COMMAND …`."""

import os
import sys
from pathlib import Path

USAGE = """\
memory-server run             start everything; Ctrl-C ends it
memory-server login           print the API key and the admin's login
memory-server stop            stop the embedded PostgreSQL, which outlives run
memory-server manage COMMAND  any other command; `manage help` lists them

Version {version}. Data is kept in {data} (MEMORY_DATA_DIR); PORT is the port of run."""


def main() -> None:
    """Put this folder on the path, as `python manage.py` does, and hand over to the command."""
    sys.path.insert(0, str(Path(__file__).parent))
    import manage
    from memoryproject.embedded.__main__ import main as embedded
    from memoryproject.process import release

    command, *rest = sys.argv[1:] or ["help"]
    data = os.environ.get("MEMORY_DATA_DIR") or str(release.DATA_DIR)
    if command in ("run", "login", "manage"):
        sys.argv[1:] = rest if command == "manage" else [command, *rest]
        manage.main()
    elif command == "stop":
        sys.exit(embedded(["stop", data]))
    else:
        print(USAGE.format(version=release.VERSION, data=data))
