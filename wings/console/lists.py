"""Prepares the rows of the admin's lists: names of conversations, and the use of facts."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from episodic.revealing import Reader
from semantic.models import Fact
from wings.console.facts.use import set_use
from wings.console.labels import set_names


def prepare_rows(request: HttpRequest, rows: Sequence[Any]) -> None:
    set_names(rows, Reader(request.user))
    if rows and isinstance(rows[0], Fact):
        set_use(rows)
