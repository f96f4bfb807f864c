"""Processor time of the database's own process: it hardly depends on what else the machine does."""

from __future__ import annotations

import os
from pathlib import Path

from django.db import connection


class Backend:
    """The process that serves our connection. Linux only, and only on this machine."""

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            row = cursor.fetchone()
        self._figures = Path(f"/proc/{row[0] if row else 0}/stat")

    def read_ms(self) -> float:
        """Return the milliseconds that it has run so far, in steps of ten; NaN: nobody knows."""
        if not self._figures.exists():
            return float("nan")
        fields = self._figures.read_text().rsplit(")", 1)[1].split()
        ticks = int(fields[11]) + int(fields[12])  # in the program, and in the kernel for it
        return 1000 * ticks / os.sysconf("SC_CLK_TCK")
