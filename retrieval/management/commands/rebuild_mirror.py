"""Write the mirror anew from the database."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from indexing.models import Memory
from memoryproject.tenancy.models import Tenant
from retrieval import mirror


class Command(BaseCommand):
    help = (
        "Write every active episode, fact and note as a file under MEMORY_MIRROR_DIR, and "
        "remove the files of what is not. Everything may go on meanwhile."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="only this one, by name (default: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not mirror.is_on():
            raise CommandError("Set MEMORY_MIRROR_DIR to the folder to write to.")
        tenants = Tenant.objects.order_by("id")
        if options["tenant"]:
            tenants = tenants.filter(name=options["tenant"])
            if not tenants:
                raise CommandError("There is no such tenant.")
        for tenant in tenants:
            count = Memory.objects.of(tenant).count()
            with tqdm(total=count, desc=tenant.name, unit=" memories") as bar:
                try:
                    mirror.rebuild(tenant=tenant, report=bar.update)
                except mirror.FolderAway as error:
                    raise CommandError(f"The folder cannot be written: {error}.") from error
