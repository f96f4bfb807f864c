"""Podman as Debian packages it, out of a cache folder, for containers as root makes them."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

CACHE = settings.BASE_DIR / ".pytest_cache" / "podman"
"""Where .ci/podman puts it."""
BASE = "debian:trixie-slim"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
"""By which pip in a build trusts what this machine trusts, such as a proxy's."""
PATIENCE_S = 600

# In mounts of its own: podman lies over /usr and /etc, and finds the cgroups that it knows.
START = """
for part in usr etc; do mount -t overlay overlay -o "lowerdir=$0/root/$part:/$part" /$part; done
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /run
exec podman --root "$0/store" --runroot "$0/run" --tmpdir "$0/tmp" --storage-driver overlay \
    --runtime crun --cgroup-manager cgroupfs --events-backend none "$@"
"""
PODMAN = ["unshare", "--mount", "--propagation=private", "sh", "-ec", START, str(CACHE)]
# As docs/deploying.md runs it; the rest is for where tests run, which may raise no limit.
RUN = [
    *("run", "--rm", "--read-only", "--read-only-tmpfs=false", "--tmpfs=/tmp"),
    *("--cap-drop=all", "--security-opt=no-new-privileges", "--network=host"),
    *("--cgroups=disabled", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000"),
]


def podman(*arguments: str) -> str:
    """Run podman and return what it printed."""
    done = subprocess.run(
        [*PODMAN, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout.strip()


def build(name: str, dockerfile: str, context: str, *options: str) -> dict[str, Any]:
    """Build an image and return what podman knows of it; without podman the test is skipped."""
    base = CACHE / "debian.tar"
    if not base.exists():
        pytest.skip("podman is not there: .ci/podman gets it")
    if BASE not in podman("images", "--format={{.Repository}}:{{.Tag}}"):
        podman("import", str(base), BASE)
    (CACHE / "pip.conf").write_text("[global]\ncert = /etc/pip.crt\n")
    podman(
        *("build", "--quiet", "--pull=never", "--format=docker", "--isolation=chroot"),
        *("--network=host", f"--volume={CERTIFICATES}:/etc/pip.crt:ro"),
        *(f"--volume={CACHE / 'pip.conf'}:/etc/pip.conf:ro", f"--tag={name}"),
        *options,
        *(f"--file={settings.BASE_DIR / dockerfile}", str(settings.BASE_DIR / context)),
    )
    (image,) = json.loads(podman("image", "inspect", name))
    return dict(image)


@contextmanager
def container(*arguments: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a container until the block ends; it must end by itself when it is asked to."""
    with log.open("wb") as output:
        process = subprocess.Popen([*PODMAN, *RUN, *arguments], stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
