"""Make a key from the shell.

Create an API key and print only the key to standard output. It is shown once. The tenant is created
if there is none of that name.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memoryproject.tenancy import services
from memoryproject.tenancy.management.naming import read_moment
from memoryproject.tenancy.models import DEFAULT_SCOPES, Scope
from memoryproject.text.cleaning import DEFANGED, LINK_STYLES


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", required=True, help="name of the tenant")
        parser.add_argument("--name", default="key", help="who or what uses the key")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            choices=Scope.values,
            help="what it may do; repeat for several; default: everything",
        )
        parser.add_argument(
            "--user",
            action="append",
            default=[],
            help="a user_id whose conversations and notes alone it may touch; repeat for more "
            "than one; none given: all of the tenant",
        )
        parser.add_argument(
            "--links",
            choices=LINK_STYLES,
            default=DEFANGED,
            help="how its answers print links, where a call does not say; defanged: so that "
            "nothing follows them",
        )
        parser.add_argument(
            "--default-scope",
            choices=[scope for scope, _ in DEFAULT_SCOPES if scope],
            default="",
            help="where calls that retrieve look, if they do not say; not given: as the tenant's "
            "settings say",
        )
        parser.add_argument("--expires", help="when it expires, ISO 8601 with an offset")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = read_name(options["tenant"], option="--tenant")
        name = read_name(options["name"], option="--name")
        expires = (
            read_moment(options["expires"], option="--expires") if options["expires"] else None
        )
        created = services.create_api_key(
            tenant=services.get_or_create_tenant(name=tenant),
            name=name,
            scopes=options["scope"],
            expires_at=expires,
            user_ids=[read_name(user, option="--user") for user in options["user"]],
            links=options["links"],
            default_scope=options["default_scope"],
        )
        self.stdout.write(created.secret)


def read_name(text: str, *, option: str) -> str:
    """Return the name without white space around it.

    Raises:
        CommandError: it is empty, too long or cannot be stored.
    """
    name = text.strip()
    if not 1 <= len(name) <= 200 or not name.isprintable():
        raise CommandError(f"{option} must be 1 to 200 printable characters.")
    return name
