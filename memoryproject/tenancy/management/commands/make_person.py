"""Make a person who can log in to the admin, in a role.

Prints only the first password to standard output. Curators read and correct memory; auditors read
it, but messages only after unmasking them, which is recorded; operators manage jobs, keys and
budgets; superusers may do everything and manage people. With --tenant the role applies to these
tenants, else to all.
"""

import secrets
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError, transaction

from memoryproject.tenancy.management.naming import find_tenant
from memoryproject.tenancy.models import Membership, Tenant

ROLES = ("curator", "auditor", "operator")
SUPERUSER = "superuser"


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the name to log in with")
        parser.add_argument("--role", required=True, choices=[*ROLES, SUPERUSER])
        parser.add_argument(
            "--tenant",
            action="append",
            default=[],
            help="tenant in which the role applies; may be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name, role = read_login(options["name"]), options["role"]
        tenants = [find_tenant(tenant) for tenant in options["tenant"]]
        if tenants and role == SUPERUSER:
            raise CommandError("a superuser sees all tenants: leave --tenant out.")
        password = secrets.token_urlsafe(12)
        try:
            with transaction.atomic():
                make_person(name, password=password, role=role, tenants=tenants)
        except IntegrityError as error:
            raise CommandError(f"there is somebody named {name} already.") from error
        self.stdout.write(password)


def read_login(text: str) -> str:
    """Return the name without white space around it.

    Raises:
        CommandError: nobody can be called that.
    """
    try:
        return str(User._meta.get_field("username").clean(text.strip(), None))
    except ValidationError as error:
        raise CommandError(f"the name {text!r}: {' '.join(error.messages)}") from error


def make_person(name: str, *, password: str, role: str, tenants: Sequence[Tenant] = ()) -> None:
    """Make a member of staff in a role: in these tenants, without any in all.

    Raises:
        CommandError: the role is not there: the database is not migrated.
        IntegrityError: the name is taken.
    """
    if role == SUPERUSER:
        User.objects.create_superuser(name, password=password)
        return
    group = Group.objects.filter(name=role).first()
    if group is None:
        raise CommandError(f"there is no group {role}: run manage.py migrate.")
    person = User.objects.create_user(name, password=password, is_staff=True)
    if not tenants:
        person.groups.add(group)
    for tenant in tenants:
        Membership.objects.create(tenant=tenant, person=person, role=group)
