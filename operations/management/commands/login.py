"""Prints how to reach the server: a call to try, the API key, and the admin's login.

A password that somebody changed cannot be printed: the admin gets a new one, which is stored
nowhere.
"""

import secrets
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from episodic.loading import read_conversations
from memoryproject.process import env
from operations.management.commands import seed_demo

QUESTION = "Where does Mira work and what does she plan?"


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        password = seed_demo.find_or_create_password() or set_password()
        self.stdout.write(render_access(password))


def set_password() -> str:
    """Give the admin a new password, and return it; a second factor is gone with the old one."""
    password = secrets.token_urlsafe(9)
    user = get_user_model().objects.get(username=seed_demo.ADMIN)
    user.set_password(password)
    user.save(update_fields=["password"])
    Authenticator.objects.filter(user=user).delete()
    return password


def read_address() -> tuple[str, int]:
    """Return where the server listens: its host and port."""
    host = env.read_text("MEMORY_HOST", "127.0.0.1")
    return host, env.read_integer("PORT", 8000, at_least=1, at_most=65535)


def render_access(password: str) -> str:
    address = "http://{}:{}".format(*read_address())
    conversation = next(read_conversations(seed_demo.DEMO)).external_id
    key = seed_demo.get_or_create_key()
    return f"""
Try it:

  curl -s {address}/api/v0/retrieve_memory \\
    -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\
    -d '{{"conversation_id": "{conversation}", "query": "{QUESTION}", "detail": "high"}}'

  API key    {key}
  API docs   {address}/api/v0/docs/
  admin      {address}/admin/   user {seed_demo.ADMIN}, password {password}
"""
