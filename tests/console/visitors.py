"""Browsers of people who have logged in."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from django.test import Client

SUPERUSER = "superuser"


def visit_as(role: str) -> Client:
    """Return the browser of a member of staff in a role; an empty role has no rights."""
    name = role or "nobody"
    if role == SUPERUSER:
        person = User.objects.create_superuser(name)
    else:
        person = User.objects.create_user(name, is_staff=True)
        if role:
            person.groups.add(Group.objects.get(name=role))
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(person)
    return browser
