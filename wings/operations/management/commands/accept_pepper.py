"""Go on with another key pepper, where the former one is lost for good.

All API keys, webhook secrets and second factors so far are void: make new ones.
"""

from typing import Any

from django.core.management.base import BaseCommand

from memoryproject.tenancy import installation


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = []  # they would be refused, as everything is until this is done

    def handle(self, *args: Any, **options: Any) -> None:
        installation.note_pepper()
        self.stdout.write("Accepted. Make new API keys by manage.py create_api_key.")
