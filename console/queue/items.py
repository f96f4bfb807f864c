"""What is to be looked at in a tenant, ranked by how often it was served and how doubtful it is."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from console.facts.changes import render_note
from console.facts.page import FactSource, read_sources
from console.labels import name_conversations
from episodic.revealing import Reader
from memoryproject.tenancy.models import Tenant
from retrieval.models import MemoryTest
from retrieval.receipts import count_served
from semantic import queries, suggestions, triage
from semantic.models import CorrectionMark, Fact, Suggestion, Triage

CANDIDATES = 200
"""Of each kind, the newest: these are ranked."""
REASONS = {
    "pending": "it would steer the assistant, or may come from a tool, and not from users alone",
    "dangling": "it begins with a word for somebody whom it does not name",
    "marks": "other places may still say what was corrected: confirm or drop them",
    "test": "an answer no longer says what it must",
}


@dataclass(slots=True)
class Item:
    """Something to look at. `doubt`: how likely something is wrong with it, 0 to 1."""

    kind: str
    """suggestion, pending, dangling, marks or test."""
    title: str
    why: str
    row: Suggestion | Fact | MemoryTest
    about: tuple[Fact, ...]
    """The old fact first; of a test none."""
    doubt: float = 0.5
    times: int = 0
    conversations: int = 0
    triage: Triage | None = None
    facts: list[tuple[str, Fact, Sequence[FactSource]]] = field(default_factory=list)
    """What is shown: each fact under a label, and with its sources."""
    place: str = ""
    """Which conversation it is about, in words."""

    @property
    def key(self) -> str:
        """What a form names it by; with the version that the person has seen, of a fact."""
        version = f":{self.row.version}" if isinstance(self.row, Fact) else ""
        return f"{self.kind}:{self.row.id}{version}"

    @property
    def weight(self) -> float:
        """How much harm it may have done."""
        return (1 + self.times) * self.doubt


def list_items(
    tenant: Tenant,
    *,
    now: datetime,
    rates: triage.Rates,
    about: uuid.UUID | None = None,
    assignee: str = "",
    set_aside: bool = False,
) -> list[Item]:
    """Return what is to be looked at, what matters most first; of equals the newest.

    `rates`: how often rules were right. `about`: only what one fact is about. `set_aside`: what
    was snoozed or kept, instead.
    """
    items = [item for item in _find_items(tenant, rates) if about is None or about in _ids([item])]
    known = triage.read_triage(tenant, _ids(items))
    served = count_served(tenant, _ids(items))
    for item in items:
        item.triage = known.get(item.about[0].id) if item.about else None
        counts = [served.get(fact.id, (0, 0)) for fact in item.about]
        item.times, item.conversations = max(counts, default=(0, 0))
    wanted = [
        item
        for item in items
        if triage.is_set_aside(item.triage, now=now) == set_aside
        and (not assignee or (item.triage and item.triage.assignee == assignee))
    ]
    return sorted(wanted, key=lambda item: (item.weight, item.row.id), reverse=True)


def show_sources(items: Sequence[Item], reader: Reader) -> None:
    """Load the messages behind the facts of what is shown, as far as the person may read them."""
    names = name_conversations((item.row.conversation_id for item in items), reader)
    for item in items:
        item.place = names[item.row.conversation_id]
        labels = ("Old", "New") if len(item.about) == 2 else ("Fact",)
        item.facts = [
            (label, fact, read_sources(fact, reader))
            for label, fact in zip(labels, item.about, strict=True)
        ] if item.about else []  # fmt: skip


def _ids(items: Sequence[Item]) -> set[uuid.UUID]:
    return {fact.id for item in items for fact in item.about}


def _find_items(tenant: Tenant, rates: triage.Rates) -> Iterator[Item]:
    open_ones = suggestions.find_suggestions(tenant).select_related("changeset")
    for row in open_ones.order_by("-id")[:CANDIDATES]:
        decided, accepted = rates.get((row.kind, row.reason), (0, 0))
        about = tuple(filter(None, (row.old_fact, row.new_fact)))
        for fact in about:
            fact.tenant = tenant
        title = f"looks like a {row.kind}" if row.new_fact else "may no longer be true"
        doubt = (accepted + 1) / (decided + 2)
        yield Item("suggestion", title, render_note(row.reason), row, about, doubt)
    proposed = CorrectionMark.objects.of(tenant).filter(state=CorrectionMark.State.PROPOSED)
    facts = {
        ("pending", "pending review"): queries.facts_waiting(tenant).order_by("-id"),
        ("dangling", "says not whom"): triage.find_dangling(tenant),
        ("marks", "corrected, perhaps not everywhere"): Fact.objects.of(tenant)
        .filter(id__in=proposed.values("fact"))
        .order_by("-id"),
    }
    for (kind, title), rows in facts.items():
        for fact in rows.select_related("conversation", "changeset")[:CANDIDATES]:
            yield Item(kind, title, REASONS[kind], fact, (fact,))
    red = MemoryTest.objects.of(tenant).filter(broken_by__isnull=False)
    for test in red.select_related("conversation").order_by("-id")[:CANDIDATES]:
        yield Item("test", "a memory test is red", REASONS["test"], test, (), doubt=1.0)
