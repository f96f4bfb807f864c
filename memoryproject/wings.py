"""What a part of the product adds to the rest, and the parts that the settings list, in order.

`wing.py` of each folder in `settings.WINGS` holds one `WING`. The core declares its jobs alike.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.urls import URLPattern, URLResolver

from memoryproject.process.tables import read_table

if TYPE_CHECKING:
    from django.db.models import Model
    from django.http import HttpRequest

    from episodic.models import Conversation, Correction, Episode
    from jobs.claims import Claim
    from jobs.flows import Chore, Flow
    from jobs.models import Kind
    from memoryproject.adminkit.base import Story
    from memoryproject.tenancy.models import Tenant
    from retrieval.memory import Loader, Memory
    from semantic.engines import Instructions
    from semantic.models import Change, Changeset, Fact

    MarkRows = Callable[
        [Tenant, Sequence[uuid.UUID], datetime | None], Mapping[uuid.UUID, Correction]
    ]


class Notice(NamedTuple):
    """The notification for an event type; people with the permission get it."""

    words: str
    permission: str
    page: str
    """Page of the admin; its address ends in the subject's id, if it `takes_id`."""
    subject: str = ""
    """Key in an event's data with the id of the page's subject; if empty, the tenant."""
    takes_id: bool = True


class EventType(NamedTuple):
    """Something that happens in a tenant's memory, which webhooks are told."""

    code: str
    meaning: str
    notice: Notice | None = None


class Eraser(NamedTuple):
    """How a wing deletes its rows inside an erasure; each function returns how many, by kind."""

    of_conversation: Callable[[Conversation], Counter[str]]
    of_tenant: Callable[[Tenant], Counter[str]]
    count_of_tenant: Callable[[Tenant], Counter[str]]
    """Counts what `of_tenant` would delete."""


def do_nothing(*given: object) -> None:
    """Stand for a part that a wing leaves out."""


def list_nothing(*given: object) -> tuple[()]:
    return ()


def map_nothing(*given: object) -> Mapping[Any, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wing:
    """What one wing adds; every part may be left out."""

    routes: Sequence[URLPattern] = ()
    """Calls of the API, below `api/v0/`."""
    pages: Sequence[URLPattern] = ()
    """Pages of the admin, below `admin/`, named `console:…`."""
    stories: Mapping[type[Model], Story] = field(default_factory=dict)
    """What the page of a row shows above its columns, and what its list can do to many."""
    list_doors: Callable[[HttpRequest, Model], Sequence[tuple[str, str]]] = list_nothing
    """Returns title and address of pages that do something to a row."""
    prepare_rows: Callable[[HttpRequest, Sequence[Any]], object] = do_nothing
    """Sets on the rows of a list's page what their columns show of other tables."""
    addresses: Sequence[URLPattern | URLResolver] = ()
    """Whatever else the server answers, from the root."""
    shows_content: Collection[str] = ()
    """Pages, `console:…`, and tables, `app.model`, with content: the read log has who saw them."""
    events: Sequence[EventType] = ()
    """What it announces to webhooks and to people."""
    flows: Mapping[Kind, Flow] = field(default_factory=dict)
    """How jobs run; each kind has one flow, of one wing."""
    chores: Sequence[Chore] = ()
    """What the reconciler does each time, in this order."""
    on_death: Callable[[Claim], object] = do_nothing
    """Called when a job has died, in the transaction that says so."""
    on_episodes: Callable[[Conversation, Sequence[Episode]], object] = do_nothing
    """Called when a window was segmented, into no episode yet or some, inside the commit."""
    on_changeset: Callable[[Changeset, Conversation, Sequence[Change]], object] = do_nothing
    """Called when a changeset is closed, with its steps, inside the transaction."""
    on_retired: Callable[[Fact, Changeset, str], object] = do_nothing
    """Called when a person retires a fact, with the sentence that is right, if there is any."""
    on_drawn: Callable[[Changeset, Sequence[Episode]], object] = do_nothing
    """Called when facts were drawn from episodes, before the changeset is closed."""
    find_instructions: Callable[[Tenant, str], Instructions | None] = do_nothing
    """Returns what a tenant's operator wants learned from conversations of an agent."""
    mark_rows: MarkRows = map_nothing
    """Returns what answers say of rows that they show, by the rows' ids, as of a moment."""
    load_memories: Callable[[Loader], Iterable[Memory]] = list_nothing
    """Yields memories of the wing's own kind, among those that are asked for."""
    list_passages: Callable[[Tenant, Iterable[uuid.UUID]], Mapping[object, str]] = map_nothing
    """Returns the texts behind the vectors of memories that have several, by id and part."""
    erase: Eraser | None = None


@cache
def list_wings() -> tuple[Wing, ...]:
    """Return what each part declares, in the order of the settings."""
    return tuple(import_module(f"{name}.wing").WING for name in settings.WINGS)


def read_files(name: str) -> Iterator[dict[str, Any]]:
    """Yield the contents of the TOML files of a name in the folders of the wings."""
    for wing in settings.WINGS:
        file = settings.BASE_DIR.joinpath(*wing.split("."), name)
        if file.exists():
            yield read_table(str(file))
