"""Load conversations from a file.

Post the conversations of a JSONL file like an agent. Run it again to continue after an
interruption. Workers do the rest; without one, run worker --drain.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from memoryproject.edge.errors import Conflict
from memoryproject.tenancy.management.naming import ServiceCommand
from memoryproject.tenancy.services import get_or_create_tenant
from wings.transfer.loading import post_conversations, read_conversations


class Command(ServiceCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the file")
        parser.add_argument("--tenant", required=True, help="tenant; created if missing")

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["path"]
        # Once to check all of it and count, once to post: no more than one is in memory.
        with tqdm(unit="B", unit_scale=True, desc="reading") as bar:
            total = sum(len(one.messages) for one in read_conversations(path, watch=bar.update))
        with tqdm(total=total, unit=" messages", desc="loading") as bar:
            try:
                tenant = get_or_create_tenant(name=options["tenant"])
                post_conversations(read_conversations(path), tenant=tenant, report=bar.update)
            except Conflict as error:
                raise CommandError(
                    "This tenant holds another version of the file; choose another tenant."
                ) from error
        for conversation in read_conversations(path):
            self.stdout.write(f"{conversation.external_id}  {conversation.name}")
