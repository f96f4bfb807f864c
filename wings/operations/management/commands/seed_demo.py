"""Creates a first tenant, key, login and conversation."""

import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.utils import timezone

from episodic import services as episodic
from episodic.models import Conversation
from jobs.draining import drain_jobs
from memoryproject.tenancy import services as tenancy
from memoryproject.tenancy.models import Tenant
from wings.transfer.loading import post_conversations, read_conversations

TENANT = "default"
ADMIN = "admin"
DEMO = settings.BASE_DIR / "examples" / "demo.jsonl"


class Command(BaseCommand):
    help = "Make the tenant `default`, its key, the admin login and a demo conversation."

    def handle(self, *args: Any, **options: Any) -> None:
        get_or_create_key()
        find_or_create_password()
        if not has_conversations():
            seed_conversation(tenancy.get_or_create_tenant(name=TENANT))


def get_or_create_key() -> str:
    """Return the key in the file if it is valid, or else a new one of the tenant `default`."""
    file = settings.DATA_DIR / "api_key"
    secret = file.read_text(encoding="utf-8") if file.exists() else ""
    if secret and tenancy.find_key(secret=secret, now=timezone.now()):
        return secret
    tenant = tenancy.get_or_create_tenant(name=TENANT)
    created = tenancy.create_api_key(tenant=tenant, name="made by make run")
    write_private(file, created.secret)
    return created.secret


def find_or_create_password() -> str | None:
    """Return the admin's first password, or None if somebody changed it."""
    file = settings.DATA_DIR / "admin_password"
    users = get_user_model().objects
    user = users.filter(username=ADMIN).first()
    if user is None:
        write_private(file, secrets.token_urlsafe(9))
        user = users.create_superuser(username=ADMIN, password=file.read_text(encoding="utf-8"))
    password = file.read_text(encoding="utf-8") if file.exists() else ""
    return password if user.check_password(password) else None


def write_private(file: Path, text: str) -> None:
    """Write a file readable only by this user."""
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")


def has_conversations() -> bool:
    return Conversation.across_tenants.exists()


def seed_conversation(tenant: Tenant) -> None:
    post_conversations(read_conversations(DEMO), tenant=tenant)
    for conversation in Conversation.objects.of(tenant):
        episodic.request_flush(conversation=conversation)
    drain_jobs()
