"""Prepares the rows of the admin's lists: names of conversations, and the use of facts."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from episodic.revealing import Reader
from semantic.models import Fact
from wings.console.facts.use import set_use
from wings.console.labels import set_names
from wings.console.page_reads import list_content


def prepare_rows(request: HttpRequest, rows: Sequence[Any]) -> None:
    """Set the names, with the first words only in lists that the read log has as content."""
    if not rows:
        return
    has_content = rows[0]._meta.label_lower in list_content()
    set_names(rows, Reader(request.user) if has_content else None)
    if isinstance(rows[0], Fact):
        set_use(rows)
