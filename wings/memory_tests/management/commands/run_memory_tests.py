"""Run memory tests, and say which fail."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memoryproject.ai.errors import ModelUnavailable
from memoryproject.database.clock import read_database_clock
from memoryproject.tenancy.management.naming import find_tenant
from memoryproject.tenancy.models import Tenant
from wings.memory_tests import memory_tests


class Command(BaseCommand):
    help = "Run the memory tests of all tenants or one; exit with 1 if one of them fails."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="only this one, by name (default: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["tenant"]
        tenants = [find_tenant(name)] if name else Tenant.objects.order_by("id")
        failed = 0
        for tenant in tenants:
            tests = memory_tests.tests_of(tenant)
            try:
                memory_tests.run_tests(tests, now=read_database_clock())
            except ModelUnavailable as error:
                raise CommandError("The embedding model is away: try again later.") from error
            for test in tests:
                verdict = "passes" if test.passes else f"fails: {', '.join(test.failures)}"
                self.stdout.write(f"{tenant.name} {test.id} {verdict}")
            failed += sum(not test.passes for test in tests)
        if failed:
            raise CommandError(f"Failing memory tests: {failed}.")
