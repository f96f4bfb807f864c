"""The server's configuration: `server.conf`, and what only this place knows."""

from collections.abc import Mapping
from pathlib import Path

from memoryproject.embedded.paths import PORT, ServerPaths

FILE_NAME = "memory.conf"
COMMON = Path(__file__).with_name("server.conf")


def render_settings(paths: ServerPaths, overrides: Mapping[str, str]) -> str:
    """Return the text of `memory.conf`; of a setting that stands twice the last one counts.

    An operator's own choices go through ALTER SYSTEM, which PostgreSQL reads last.
    """
    socket_dir = str(paths.socket_dir).replace('"', '""')
    settings = {
        "port": str(PORT),
        # A comma-separated list: the inner quotes keep spaces and commas in the path.
        "unix_socket_directories": f'"{socket_dir}"',
        **overrides,
    }
    lines = [f"{name} = {_quote(value)}\n" for name, value in settings.items()]
    return COMMON.read_text(encoding="utf-8") + "".join(lines)


def _quote(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
