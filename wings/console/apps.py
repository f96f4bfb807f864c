from importlib import import_module

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "wings.console"
    verbose_name = "Console"

    def ready(self) -> None:
        """Let an erasure delete the console's own rows, and time delete the read log."""
        import_module("jobs.flows").chores.append(
            import_module("wings.console.page_reads").delete_old
        )
        erasers = import_module("wings.erasure.other_rows").erasers
        erasers.append(import_module("wings.console.erasing.rows").ERASER)
