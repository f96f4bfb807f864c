"""What `make run` does before it installs anything."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from django.conf import settings


def test_a_port_that_is_taken_is_refused_before_anything_is_installed(tmp_path: Path) -> None:
    for name in ("install.py", "requirements.lock", "requirements-minilm.lock"):
        shutil.copy(settings.BASE_DIR / name, tmp_path)
    shutil.copy(settings.BASE_DIR / "requirements-dev.lock", tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, tmp_path / "install.py", "--run"],
            env={**os.environ, "PORT": port, "MEMORY_HOST": "127.0.0.1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1 and not (tmp_path / ".venv").exists()
    assert f"port {port} on 127.0.0.1 cannot be used" in done.stderr
