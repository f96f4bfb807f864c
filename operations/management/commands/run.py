"""Everything on one machine, from nothing: what `make run` starts."""

import io
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS

from memoryproject import embedded, env

HEALTHY_WITHIN_S = 60
# Not by the settings: benchmarks name the command before there are any.
GUNICORN_CONFIG = Path(__file__).resolve().parents[3] / "gunicorn.conf.py"


class Command(BaseCommand):
    help = "Start the database, migrate, seed a demo, and run web and worker in the foreground."

    def handle(self, *args: Any, **options: Any) -> None:
        host = env.read_text("MEMORY_HOST", "127.0.0.1")
        port = env.read_integer("PORT", 8000, at_least=1, at_most=65535)
        refuse_taken_port(host, port)
        if settings.EMBEDDED_POSTGRES:
            self._say("Starting PostgreSQL …")
            embedded.ensure_started(settings.DATA_DIR, report=self._say)
        self._say("Migrating the database …")
        call_command("migrate", verbosity=0, interactive=False)
        call_command("check", databases=[DEFAULT_DB_ALIAS], stdout=io.StringIO())
        self._say("Preparing the demo (a real conversation, processed once) …")
        call_command("seed_demo")
        self._serve(host, port)

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()

    def _serve(self, host: str, port: int) -> None:
        """Run web and worker until one ends or Ctrl-C; then end both."""
        self._say("Starting web and worker …")
        children = [
            subprocess.Popen(web_command(host, port), start_new_session=True),
            subprocess.Popen(
                [sys.executable, str(settings.BASE_DIR / "manage.py"), "worker"],
                start_new_session=True,
            ),
        ]
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, stop)
        try:
            wait_until_healthy(host, port, children)
            call_command("seed_demo", show=f"http://{host}:{port}")
            while all(child.poll() is None for child in children):
                time.sleep(0.2)
            raise CommandError("web or worker ended by itself; its last lines say why.")
        except KeyboardInterrupt:
            self._say("\nStopping …")
        finally:
            end(children)


def stop(signum: int, frame: Any) -> None:
    """Leave the waiting loop; a second signal changes nothing."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    raise KeyboardInterrupt


def web_command(host: str, port: int) -> list[str]:
    """Return the command line of the web server."""
    threads = env.read_integer("MEMORY_WEB_THREADS", 4, at_least=1, at_most=64)
    workers = env.read_integer("MEMORY_WEB_WORKERS", 2, at_least=1, at_most=64)
    return [
        sys.executable,
        "-m",
        "gunicorn",
        "memoryproject.wsgi",
        f"--config={GUNICORN_CONFIG}",
        f"--bind={host}:{port}",
        f"--workers={workers}",
        f"--threads={threads}",
        "--log-level=warning",
        "--no-control-socket",
    ]


def refuse_taken_port(host: str, port: int) -> None:
    """Raise CommandError if something listens there already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"port {port} on {host} cannot be used ({os.strerror(error.errno or 0)}); "
                f"choose another: make run PORT={port + 1 if port < 65535 else 8000}"
            ) from error


def wait_until_healthy(host: str, port: int, children: list[subprocess.Popen[bytes]]) -> None:
    """Return when the server answers; raise CommandError when it does not in time."""
    until = time.monotonic() + HEALTHY_WITHIN_S
    while time.monotonic() < until and all(child.poll() is None for child in children):
        try:
            with urllib.request.urlopen(f"http://{host}:{port}/api/v0/health/ready", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise CommandError("the web server did not come up; its last lines say why.")


def end(children: list[subprocess.Popen[bytes]]) -> None:
    """Ask the children to finish, and wait until they have."""
    for child in children:
        if child.poll() is None:
            child.terminate()
    for child in children:
        try:
            child.wait(timeout=settings.JOB_TIMEOUT_S + 15)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
