"""A first tenant, key, login and conversation, so that there is something to look at."""

import os
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from episodic import services as episodic
from episodic.loading import post_conversations, read_conversations
from episodic.models import Conversation
from jobs.draining import drain_jobs
from memoryproject.tenancy import services as tenancy
from memoryproject.tenancy.models import Tenant

TENANT = "default"
ADMIN = "admin"
DEMO = settings.BASE_DIR / "examples" / "demo.jsonl"
QUESTION = "Where does Mira work and what does she plan?"


class Command(BaseCommand):
    help = "Make the tenant `default`, its key, the admin login and a demo conversation."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--show", help="only print how to reach the server at this address")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = tenancy.get_or_create_tenant(name=TENANT)
        key, password = keep_key(tenant), keep_password()
        if options["show"]:
            self.stdout.write(how_to_reach(options["show"], key=key, password=password))
        else:
            seed_conversation(tenant)


def keep_key(tenant: Tenant) -> str:
    """Return the demo's key, from its file if that key is still valid."""
    file = settings.DATA_DIR / "api_key"
    secret = file.read_text(encoding="utf-8") if file.exists() else ""
    if secret and tenancy.find_key(secret=secret, now=timezone.now()):
        return secret
    made = tenancy.create_api_key(tenant=tenant, name="made by make run")
    write_private(file, made.secret)
    return made.secret


def keep_password() -> str:
    """Return the admin's first password, or words for one that was changed."""
    file = settings.DATA_DIR / "admin_password"
    users = get_user_model().objects
    user = users.filter(username=ADMIN).first()
    if user is None:
        write_private(file, secrets.token_urlsafe(9))
        user = users.create_superuser(username=ADMIN, password=file.read_text(encoding="utf-8"))
    password = file.read_text(encoding="utf-8") if file.exists() else ""
    return password if user.check_password(password) else "(as you changed it)"


def write_private(file: Path, text: str) -> None:
    """Write a file that only this user can read."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)


def seed_conversation(tenant: Tenant) -> None:
    """Post and process the demo conversation, if the tenant has none at all."""
    if Conversation.objects.of(tenant).exists():
        return
    demo = read_conversations(DEMO)
    post_conversations(demo, tenant=tenant)
    for conversation in Conversation.objects.of(tenant):
        episodic.request_flush(conversation=conversation)
    drain_jobs()


def how_to_reach(address: str, *, key: str, password: str) -> str:
    """Return what a newcomer needs: addresses, login, key and a line to try."""
    conversation = read_conversations(DEMO)[0].external_id
    return f"""
The memory server runs at {address}

  admin      {address}/admin/   user {ADMIN}, password {password}
  API docs   {address}/api/v0/docs/
  API key    {key}

Try it:

  curl -s {address}/api/v0/retrieve_memory \\
    -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\
    -d '{{"conversation_id": "{conversation}", "query": "{QUESTION}", "detail": "high"}}'

Ctrl-C stops web and worker. PostgreSQL keeps running; `make stop` stops it too.
"""
