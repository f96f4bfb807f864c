"""Prints how to reach the server: a page and a call to try, the API key, and the admin's login.

A changed password cannot be printed: the admin gets a new one, which is not stored.
"""

import os
import secrets
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.utils import timezone
from django.utils.http import urlencode

from memoryproject.process import env
from memoryproject.tenancy import services as tenancy
from wings.operations.management.commands import seed_demo
from wings.transfer.loading import read_conversations

ADDRESS = "address"
"""File in the data folder with the server's address."""
QUESTION = "Where does Mira work and what does she plan?"


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        password = seed_demo.find_or_create_password() or set_password()
        self.stdout.write(render_access(password))


def set_password() -> str:
    """Set and return a new password for the admin; this also removes a second factor."""
    password = secrets.token_urlsafe(9)
    user = get_user_model().objects.get(username=seed_demo.ADMIN)
    user.set_password(password)
    user.save(update_fields=["password"])
    Authenticator.objects.filter(user=user).delete()
    return password


def read_address() -> tuple[str, int]:
    """Return the host and port at which the server is to listen."""
    host = env.read_text("MEMORY_HOST", "127.0.0.1")
    return host, env.read_integer("PORT", 8000, at_least=1, at_most=65535)


def keep_address(host: str, port: int) -> None:
    """Store the server's address, for commands that do not name the port."""
    (settings.DATA_DIR / ADDRESS).write_text(f"{host}:{port}", encoding="utf-8")


def find_address() -> str:
    """Return the current or last address of the server: `127.0.0.1:8000`."""
    kept = settings.DATA_DIR / ADDRESS
    if "PORT" not in os.environ and kept.exists():
        return kept.read_text(encoding="utf-8")
    return "{}:{}".format(*read_address())


def render_access(password: str) -> str:
    address = f"http://{find_address()}".replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    conversation = next(read_conversations(seed_demo.DEMO)).external_id
    key = seed_demo.get_or_create_key()
    found = tenancy.find_key(secret=key, now=timezone.now())
    query = urlencode({"tenant": found.tenant.name}) if found else ""
    return f"""
Try it in the browser: say something, and watch what memory makes of it.

  {address}/admin/try-it/?{query}

Or by a call:

  curl -s {address}/api/v0/retrieve_memory \\
    -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\
    -d '{{"conversation_id": "{conversation}", "query": "{QUESTION}", "detail": "high"}}'

  API key    {key}
  API docs   {address}/api/v0/docs/
  admin      {address}/admin/   user {seed_demo.ADMIN}, password {password}
"""
