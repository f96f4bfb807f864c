#!/usr/bin/env python
"""Run a management command; the embedded Postgres is started first if it is down."""

import os
import sys

from memoryproject import embedded
from memoryproject.process.env import SettingError

HELP = {"-h", "--help", "--version"}
"""Arguments that ask any command for its text alone."""
WITHOUT_DATABASE = {"makemigrations", "check", "spectacular", "collectstatic", "help", "run"}


def main() -> None:
    """Start what the command needs, then hand over to Django; fail in one sentence."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
    import django
    from django.conf import settings
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError, OperationalError
    from psycopg.errors import RaiseException

    from memoryproject.database.errors import UnsafeDatabase
    from memoryproject.process import old_commands, web
    from memoryproject.process.loading import without_collecting
    from memoryproject.tenancy.walls import across_tenants

    try:
        sys.argv[1:] = old_commands.translate(sys.argv[1:])
        command = sys.argv[1] if len(sys.argv) > 1 else "help"
        needs_database = command not in WITHOUT_DATABASE and not HELP & set(sys.argv[1:])
        if settings.EMBEDDED_POSTGRES and needs_database:
            embedded.ensure_started(settings.DATA_DIR)
        if command == "run":
            web.share_counts()
        with without_collecting():
            django.setup()
        with across_tenants():
            execute_from_command_line(sys.argv)
    except (SettingError, embedded.EmbeddedPostgresError, UnsafeDatabase) as error:
        sys.exit(f"error: {error}")
    except OperationalError as error:
        reason = " ".join(str(error).split())
        sys.exit(f"error: the database cannot be reached: {reason}")
    except DatabaseError as error:
        if not isinstance(error.__cause__, RaiseException):
            raise
        sys.exit(f"error: {error.__cause__.diag.message_primary}")


if __name__ == "__main__":
    main()
