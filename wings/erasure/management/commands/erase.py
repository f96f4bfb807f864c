"""Erase permanently, in the foreground.

Erase a message, a conversation, a note, all notes of a user, a person, an import or a tenant, with
everything made from it. This cannot be undone. With --dry-run only print how much would be erased.
Workers finish an interrupted run, or you can run it again.
"""

import getpass
import uuid
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError, CommandParser
from django.db import connections
from psycopg import sql
from tqdm import tqdm

from jobs import claims
from jobs.renewing import renewing
from memoryproject.database.clock import execute
from memoryproject.edge.fields import CANONICAL_UUID
from memoryproject.tenancy.management.naming import ServiceCommand, find_tenant
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.walls import acting_for
from wings.erasure import flow, persons, services
from wings.erasure.models import Erasure, Scope, State
from wings.navigation.mirror import FolderAway


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scope", choices=Scope.values)
        parser.add_argument(
            "id",
            help="of a message or note its id, of a conversation the agent's own, of a user the "
            "user_id of its notes, of a person their id, of an import its changeset, of "
            "a tenant its name or id",
        )
        parser.add_argument("--tenant", help="name of the tenant; not needed to erase one")
        parser.add_argument("--reason", help="the reason; kept permanently, so do not quote")
        parser.add_argument("--dry-run", action="store_true", help="only count, and delete nothing")
        parser.add_argument(
            "--shared",
            action="append",
            default=[],
            metavar="CONVERSATION=CHOICE",
            help="of a person: what goes of a conversation that others share. `words`: what they "
            "said; `replies`: what was said to them, too (unless you say); `all`: all of it",
        )
        parser.add_argument(
            "--vacuum",
            choices=["free", "rewrite"],
            help="then vacuum the tables: `free` lets new rows overwrite the deleted ones, "
            "`rewrite` writes each table anew without them, and locks it meanwhile",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        erasure = self._draft(options)
        if options["dry_run"]:
            self._say(services.preview(erasure), "Would be erased")
            for plan in persons.list_plans(erasure) or ():
                self._say_plan(plan)
            return
        actor = f"command, {getpass.getuser()}"
        if not options["reason"]:
            raise CommandError("--reason: say why.")
        services.ask(erasure, actor=actor, reason=options["reason"])
        self._finish(erasure)
        self._say(erasure.counts, "Erased")
        if options["vacuum"]:
            tables = vacuum(rewrite=options["vacuum"] == "rewrite")
            self.stdout.write(f"{tables} tables vacuumed.")

    def _draft(self, options: dict[str, Any]) -> Erasure:
        scope = Scope(options["scope"])
        whose = options["tenant"] or (options["id"] if scope is Scope.TENANT else None)
        if whose is None:
            raise CommandError("Say whose it is: --tenant NAME.")
        tenants = Tenant.objects.filter(name=whose)
        if scope is Scope.TENANT and not tenants and CANONICAL_UUID.fullmatch(whose):
            tenants = Tenant.objects.filter(id=whose)
        tenant = tenants.first() or find_tenant(whose)
        choices = dict(map(read_choice, options["shared"]))
        return services.draft_erasure(
            tenant=tenant, scope=scope, name=options["id"], choices=choices
        )

    def _finish(self, erasure: Erasure) -> None:
        """Do the work here, until it is done; a worker that was quicker is waited for."""
        assert erasure.job_id is not None
        with acting_for(erasure.tenant_id), tqdm(unit=" rows", unit_scale=True) as bar:
            while erasure.state != State.DONE:
                claim = claims.claim(erasure.job_id)
                if claim is None:
                    raise CommandError("A worker does it already: look at the admin's erasures.")
                try:
                    with renewing(claim):
                        flow.run_erasure(claim, report=bar.update)
                except FolderAway as error:
                    raise CommandError(
                        f"All rows are erased, but the mirror's folder is away: {error}. The "
                        "workers try again."
                    ) from None
                erasure.refresh_from_db()

    def _say_plan(self, plan: persons.Plan) -> None:
        one = plan.presence
        others = ", ".join(name or "somebody without a name" for name in one.speakers) or "nobody"
        self.stdout.write(
            f"{one.conversation.external_id}: {persons.Choice(plan.erases).label}. Theirs "
            f"{one.theirs}, said to them {one.replies}, others {one.others}; who else speaks: "
            f"{others}."
        )

    def _say(self, counts: dict[str, int], what: str) -> None:
        listed = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in counts.items())
        self.stdout.write(f"{what}: {listed or 'nothing'}.")


def read_choice(text: str) -> tuple[uuid.UUID, str]:
    """Return a conversation and what to erase, or raise CommandError."""
    name, _, choice = text.partition("=")
    if not CANONICAL_UUID.fullmatch(name) or choice not in persons.Choice.values:
        raise CommandError(f"--shared {text}: say CONVERSATION=words, =replies or =all.")
    return uuid.UUID(name), choice


def vacuum(*, rewrite: bool) -> int:
    """Vacuum every table of ours, as their owner; return how many.

    The room of deleted rows is used again, and then overwritten. With `rewrite` each table
    is written anew without them, at once; nobody else reads or writes it meanwhile. The
    planner's statistics, which hold values of rows, are taken anew. What Postgres writes
    ahead, and backups, keep what they hold until they are dropped.
    """
    # All: the admin's log and the name of a tenant are erased from, too.
    tables = sorted({model._meta.db_table for model in apps.get_models() if model._meta.managed})
    how = sql.SQL("VACUUM (FULL, ANALYZE) {}" if rewrite else "VACUUM (ANALYZE) {}")
    for table in tables:
        execute(how.format(sql.Identifier(table)), using="owner")
    connections["owner"].close()
    return len(tables)
