"""Ask whether anything that the lock files pin has a known vulnerability.

    python .ci/audit.py LOCK_FILE...

Ends with 1 where there is one without a written exception (pyproject.toml, [tool.audit]),
and with 0, saying so, where the service cannot be reached. AUDIT_URL names another one
that speaks as https://api.osv.dev does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

SERVICE = "https://api.osv.dev/v1/query"
AWAY = ("requests.exceptions.ConnectionError", "requests.exceptions.Timeout", "ServiceError")
ROOT = Path(__file__).resolve().parent.parent


def read_exceptions() -> dict[str, str]:
    """Return why each vulnerability that we live with does not concern us, by its id."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    exceptions: dict[str, str] = settings["tool"]["audit"]["exceptions"]
    return exceptions


def ask(lock_file: str) -> subprocess.CompletedProcess[str]:
    """Run pip-audit over a lock file, as it stands and without installing anything."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes"),
            *("--vulnerability-service", "osv", "--osv-url", os.environ.get("AUDIT_URL", SERVICE)),
            *("--format", "json", "--progress-spinner", "off", "--requirement", lock_file),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def find_unexcused(report: dict[str, Any], exceptions: dict[str, str]) -> list[str]:
    """Return a line for each vulnerability without an exception."""
    return [
        f"{package['name']} {package['version']}: {found['id']}"
        f" {found.get('aliases', [])}, mended in {found.get('fix_versions', [])}"
        for package in report["dependencies"]
        for found in package.get("vulns", [])
        if not {found["id"], *found.get("aliases", [])} & set(exceptions)
    ]


def audit(lock_file: str) -> bool:
    """Say what is known of a lock file's packages; return whether nothing is wrong."""
    asked = ask(lock_file)
    try:
        report = json.loads(asked.stdout)
    except ValueError:
        if any(sign in asked.stderr for sign in AWAY):
            print(f"{lock_file}: NOT AUDITED, the service cannot be reached.")
            return True
        print(f"{lock_file}: the audit failed.\n{asked.stderr[-2000:]}")
        return False
    unexcused = find_unexcused(report, read_exceptions())
    print("\n".join([f"{lock_file}: {len(report['dependencies'])} packages", *unexcused]))
    return not unexcused


if __name__ == "__main__":
    faults = [lock_file for lock_file in sys.argv[1:] if not audit(lock_file)]
    sys.exit(1 if faults else 0)
