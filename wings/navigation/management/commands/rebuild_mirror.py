"""Write the mirror again from the database.

Write every active episode, fact and note as a file under MEMORY_MIRROR_DIR, and delete the files of
all others. The server may run meanwhile.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from indexing.models import Memory
from memoryproject.tenancy.management.naming import find_tenant
from memoryproject.tenancy.models import Tenant
from wings.navigation import mirror


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="only this one, by name (default: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not mirror.is_on():
            raise CommandError("Set MEMORY_MIRROR_DIR to the folder to write to.")
        name = options["tenant"]
        tenants = [find_tenant(name)] if name else Tenant.objects.order_by("id")
        for tenant in tenants:
            count = Memory.objects.of(tenant).count()
            with tqdm(total=count, desc=tenant.name, unit=" memories") as bar:
                try:
                    mirror.rebuild(tenant=tenant, report=bar.update)
                except mirror.FolderAway as error:
                    raise CommandError(f"The folder cannot be written: {error}.") from error
