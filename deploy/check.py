"""Checks what is in this folder, and the Dockerfiles; `make manifests` runs it.

Nothing is installed or started: hadolint reads the Dockerfiles, Helm lints and renders the chart,
and schemas judge its manifests and the compose file. systemd judges the units, where there is one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import helm_python as helm
import kubernetes_validate
import yaml

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
KUBERNETES = ("1.30", "1.37")
"""The oldest that the chart names, and the newest whose schemas there are."""
EVERYTHING: dict[str, Any] = {
    "imagePullSecrets": [{"name": "registry"}],
    "env": {"MEMORY_HTTPS": "true"},
    "mcp": {"replicas": 2, "hosts": ["mcp.example.com"], "memoryUrl": "https://memory.example.com"},
}
INSTALLED = "/opt/memory-server"
"""Where the units expect the server."""


def main() -> None:
    """Check everything; end with what the first check has to say."""
    run("hadolint", ROOT / "Dockerfile", ROOT / "clients" / "mcp" / "Dockerfile")
    run("check-jsonschema", "--builtin-schema=vendor.compose-spec", DEPLOY / "compose.yaml")
    run("sh", "-n", DEPLOY / "create-database.sh")
    check_chart(DEPLOY / "helm")
    check_units(DEPLOY / "systemd")


def run(*command: str | Path) -> None:
    if subprocess.run(list(map(str, command)), check=False).returncode:
        sys.exit(f"error: {command[0]} is not content")


def check_chart(folder: Path) -> None:
    """Lint the chart, and check its manifests by strict schemas of Kubernetes."""
    findings = helm.lint(str(folder))
    if any(message["severity"] > 1 for message in findings["messages"]) or findings["errors"]:
        sys.exit(f"error: helm lint: {findings}")
    with helm.Chart.load(str(folder)) as chart:
        for values in ({}, EVERYTHING):
            rendered = chart.render(values, name="memory", namespace="agents")
            manifests = [part for text in rendered.values() for part in yaml.safe_load_all(text)]
            for manifest in filter(None, manifests):
                for version in KUBERNETES:
                    kubernetes_validate.validate(manifest, version, strict=True)
            print(f"{len(manifests)} manifests of the chart are valid")


def check_units(folder: Path) -> None:
    """Let systemd verify the units, as if the server were installed from this folder."""
    systemd = shutil.which("systemd-analyze")
    if systemd is None:
        print("no systemd here: the units were not checked")
        return
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        for unit in Path(copy).rglob("*.*"):
            if unit.is_file():
                unit.write_text(unit.read_text().replace(INSTALLED, str(ROOT)))
        units = sorted(map(str, Path(copy).glob("*.service")))
        done = subprocess.run(
            [systemd, "verify", *units], capture_output=True, text=True, check=False
        )
        if done.stderr:  # what it ignores leaves its status at 0
            sys.exit(done.stderr)


if __name__ == "__main__":
    main()
