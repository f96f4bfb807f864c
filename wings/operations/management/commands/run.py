"""Runs everything on one machine: started by `make run` and `memory-server run`."""

import http.client
import io
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, connections
from django.urls import get_resolver

from indexing.model_change import explain_changes
from jobs.supervisor import DRAIN_S, Supervisor
from memoryproject import embedded
from memoryproject.ai.reachability import find_local_servers, find_problem
from memoryproject.process import logs, release, web
from memoryproject.process.forks import fork, kill
from memoryproject.process.loading import load_shared_models, without_collecting
from memoryproject.text import tokens
from wings.operations.management.commands import login, seed_demo

logger = logging.getLogger("memory.run")

ALIVE_WITHIN_S = 60
CHANGED = f"changed ({release.COMMAND} login sets a new one)"
WITHOUT_MODEL = {"MEMORY_LLM": "offline", "MEMORY_MODEL_TIMEOUT_S": "5"}
"""Settings of the demo, which does not wait for models."""


class Command(BaseCommand):
    help = "Start the database, migrate, seed a demo, and run web and worker in the foreground."
    requires_system_checks = []  # they run while the web server loads

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = login.read_address()
        refuse_taken_port(host, port)
        if settings.EMBEDDED_POSTGRES:
            self._say("Starting PostgreSQL …")
            embedded.ensure_started(settings.DATA_DIR, report=self._say)
        self._say("Migrating the database …")
        migration = start("migrate", verbosity=0, interactive=False)
        with without_collecting():  # what web and workers share, who are forked from here
            get_resolver().url_patterns  # noqa: B018
            tokens.count_tokens("ready")
        load_shared_models()
        finish(migration)
        self._serve(host, port)

    def _say(self, event: str) -> None:
        logs.report(event, logger=logger, out=self.stdout, form=settings.LOG_FORMAT)

    def show_login(self, *, is_first: bool) -> None:
        """Print key and login at a terminal; elsewhere once, to stderr, as logs collect stdout."""
        if settings.LOG_FORMAT == "json":
            if is_first:
                password = seed_demo.find_or_create_password() or CHANGED
                self.stderr.write(login.render_access(password), style_func=str)
            self._say(f"`{release.COMMAND} login` prints the API key and the admin's login.")
            return
        self._say(login.render_access(seed_demo.find_or_create_password() or CHANGED))

    def _serve(self, host: str, port: int) -> None:
        """Run the web server and supervise the workers, until one ends or Ctrl-C."""
        self._say("Starting web and worker …")
        check = start("check", databases=[DEFAULT_DB_ALIAS], stdout=io.StringIO())
        server = fork(partial(web.serve, host, port))
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, stop)
        try:
            finish(check)
            wait_until_alive(host, port, server.is_alive)
            login.keep_address(host, port)
            self._say(f"Listening at http://{host}:{port}")
            is_first = not seed_demo.has_conversations()
            if is_first:
                self._say("Preparing the demo (a real conversation, processed once) …")
                command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "seed_demo"]
                subprocess.run(command, env=os.environ | WITHOUT_MODEL, check=True)
            if problem := find_problem():
                self._say(problem)
            if changed := explain_changes():
                self._say(changed)
            if "MEMORY_LLM" not in os.environ and (found := find_local_servers()):
                words = " or ".join(f"MEMORY_LLM={word}" for word in found)
                self._say(f"A server of language models runs on this machine: {words} uses it.")
            self._say(
                f"Ready. Ctrl-C stops web and worker, `{release.COMMAND} stop` PostgreSQL as well."
            )
            self.show_login(is_first=is_first)
            logs.install_hooks()
            Supervisor(is_over=lambda: not server.is_alive()).run()
            if not server.is_alive():
                raise CommandError("the web server ended by itself; its last lines say why.")
            self._say("Stopping …")
        except KeyboardInterrupt:
            self._say("Stopping …")
        finally:
            server.terminate()
            server.join(timeout=DRAIN_S + 5)
            kill(server)
            if settings.EMBEDDED_POSTGRES and os.getpid() == 1:  # a container ends with us
                embedded.stop(settings.DATA_DIR)


def start(command: str, **options: Any) -> int:
    """Run a command in its own process and return its id, so that its memory is freed."""
    connections.close_all()
    pid = os.fork()
    if not pid:
        call_command(command, **options)
        sys.exit()
    return pid


def finish(pid: int) -> None:
    """Wait for a forked command; if it failed, end this process, too."""
    _, status = os.waitpid(pid, 0)
    if status:
        sys.exit(os.waitstatus_to_exitcode(status))


def stop(signum: int, frame: Any) -> None:
    """Leave the waiting loop; a second signal has no effect."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    raise KeyboardInterrupt


def refuse_taken_port(host: str, port: int) -> None:
    """Raise CommandError if something listens there already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"port {port} on {host} cannot be used ({os.strerror(error.errno or 0)}); "
                f"choose another: PORT={port + 1 if port < 65535 else 8000} {release.COMMAND} run"
            ) from error


def wait_until_alive(host: str, port: int, lives: Callable[[], bool]) -> None:
    """Return when the server answers; raise CommandError if it does not in time.

    This is not readiness: the server is not ready while jobs wait for the worker, which is started
    next.
    """
    until = time.monotonic() + ALIVE_WITHIN_S
    while time.monotonic() < until and lives():
        probe = http.client.HTTPConnection(host, port, timeout=5)  # by no proxy
        with suppress(OSError, http.client.HTTPException), closing(probe):
            # A name that is always served, whatever the host is.
            probe.request("GET", "/api/v0/health/live", headers={"Host": "localhost"})
            if probe.getresponse().status == http.HTTPStatus.OK:
                return
        time.sleep(0.1)
    raise CommandError("the web server did not come up; its last lines say why.")
