"""The items of the review queue: what they ask, about which facts, in which order."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from episodic.revealing import Reader
from memoryproject.tenancy.models import Tenant
from memoryproject.text.words import WORD, content_stems
from retrieval.models import MemoryTest
from retrieval.receipts import count_served
from semantic import queries
from semantic.engines import SuggestionKind
from semantic.models import CorrectionMark, Fact, Suggestion, Triage
from wings.console.facts.changes import render_note
from wings.console.facts.page import read_sources
from wings.console.labels import name_conversations
from wings.console.texts import TEXTS
from wings.suggestions import suggestions, triage

CANDIDATES = 1_000
"""Number of newest suggestions, and rows of other kinds, that are ranked."""
WORDS_AT_MOST = 4
"""Number of shared words that name a subject."""
REASONS, QUESTIONS = TEXTS["queue_reasons"], TEXTS["queue_questions"]
CHOICES = (SuggestionKind.CONTRADICTION, SuggestionKind.DUPLICATE)
"""Kinds of questions that are answered by choosing facts."""


@dataclass(slots=True)
class Item:
    """An item to review. `doubt`: probability that something is wrong with it, 0 to 1."""

    kind: str
    """contradiction, duplicate, erase, pending, dangling, marks or test."""
    row: Suggestion | Fact | MemoryTest
    """The newest row that it is about."""
    about: list[Any]
    """Its facts, the oldest first; a test has none."""
    why: str
    doubt: float = 0.5
    times: int = 0
    conversations: int = 0
    triage: Triage | None = None
    place: str = ""
    """Name of its conversation."""

    @property
    def title(self) -> str:
        """The question, with its subject if several facts share one."""
        is_single = self.kind in CHOICES and len(self.about) == 1
        question = QUESTIONS["single" if is_single else self.kind]
        subject = name_subject(self.about) if len(self.about) > 1 else ""
        return f"{subject}: {question}" if subject else question

    @property
    def name(self) -> str:
        """What its buttons act on."""
        first = self.about[0].fact if self.about else ""
        return f"{self.title} {first}" if len(self.about) > 1 else first

    @property
    def chooses(self) -> bool:
        """Whether it is answered by choosing facts."""
        return self.kind in CHOICES

    @property
    def is_urgent(self) -> bool:
        """Whether it is about what an agent gets without asking, or what would steer it."""
        return self.kind == "pending" or any(fact.is_pinned for fact in self.about)

    @property
    def key(self) -> str:
        """Its name in a form; of facts, with the versions that the person has seen."""
        if self.kind == SuggestionKind.ERASE or not self.about:
            return f"{self.kind}:{self.row.id}"
        return f"{self.kind}:{','.join(f'{fact.id}:{fact.version}' for fact in self.about)}"


def name_subject(facts: Sequence[Fact]) -> str:
    """Return the words with a meaning that all sentences share, in the order of the first."""
    spoken = [WORD.findall(fact.fact) for fact in facts]
    folded = [{word.casefold() for word in words} for words in spoken]
    shared = set.intersection(*folded)
    words = [word for word in spoken[0] if word.casefold() in shared and content_stems(word)]
    return " · ".join([*dict.fromkeys(words)][:WORDS_AT_MOST])


def list_items(
    tenant: Tenant,
    *,
    now: datetime,
    rates: triage.Rates,
    about: uuid.UUID | None = None,
    assignee: str = "",
    set_aside: bool = False,
) -> list[Item]:
    """Return the items to review: guidelines and dangers first, then the most harmful.

    Ties: newest first. `rates`: how often rules were right. `about`: only items about one fact.
    `set_aside`: snoozed and kept items instead.
    """
    items = [item for item in _find_items(tenant, rates) if about is None or about in _ids([item])]
    known = triage.read_triage(tenant, _ids(items))
    served = count_served(tenant, _ids(items))
    for item in items:
        item.triage = next((known[fact.id] for fact in item.about if fact.id in known), None)
        counts = [served.get(fact.id, (0, 0)) for fact in item.about]
        item.times, item.conversations = max(counts, default=(0, 0))
    wanted = [
        item
        for item in items
        if triage.is_set_aside(item.triage, now=now) == set_aside
        and (not assignee or (item.triage and item.triage.assignee == assignee))
    ]
    return sorted(
        wanted,
        key=lambda item: (item.is_urgent, (1 + item.times) * item.doubt, item.row.id),
        reverse=True,
    )


def show_sources(items: Sequence[Item], reader: Reader) -> None:
    """Set on facts their `sources`, when they were `said_at`, and whether one `is_chosen` at first.

    Messages are shown as far as the person may read them. Chosen is the fact said last, or the
    longest of duplicates.
    """
    names = name_conversations((item.row.conversation_id for item in items), reader)
    facts = [fact for item in items for fact in item.about]
    sources = read_sources(facts, reader) if facts else {}
    for item in items:
        item.place = names[item.row.conversation_id]
        for fact in item.about:
            fact.sources = sources[fact.id]
            said = [
                message.occurred_at
                for source in fact.sources
                for message, is_evidence, _ in source.lines
                if is_evidence and source.withdrawn_by_id is None
            ]
            fact.said_at, fact.is_chosen = max(said, default=fact.valid_at), False
        item.about.sort(key=lambda fact: (fact.said_at, fact.id))
        if item.chooses:
            is_same = item.kind == SuggestionKind.DUPLICATE
            longest = max(item.about[::-1], key=lambda fact: len(fact.fact))
            (longest if is_same else item.about[-1]).is_chosen = True


def _ids(items: Sequence[Item]) -> set[uuid.UUID]:
    return {fact.id for item in items for fact in item.about}


def _find_items(tenant: Tenant, rates: triage.Rates) -> Iterator[Item]:
    newest_rows = suggestions.find_suggestions(tenant).select_related("changeset").order_by("-id")
    for rows in suggestions.group_suggestions(newest_rows[:CANDIDATES]):
        facts = {fact.id: fact for row in rows for fact in suggestions.facts_of(row)}
        for fact in facts.values():
            fact.tenant = tenant
        about = sorted(facts.values(), key=lambda fact: (fact.valid_at, fact.id))
        reasons = dict.fromkeys(render_note(row.reason) for row in rows)
        decided = [rates.get((row.kind, row.reason), (0, 0)) for row in rows]
        doubt = max((accepted + 1) / (total + 2) for total, accepted in decided)
        newest = max(rows, key=lambda row: row.id)
        yield Item(newest.kind, newest, about, "; ".join(reasons), doubt)
    proposed = CorrectionMark.objects.of(tenant).filter(state=CorrectionMark.State.PROPOSED)
    facts_by_kind = {
        "pending": queries.facts_waiting(tenant),
        "dangling": triage.find_dangling(tenant),
        "marks": Fact.objects.of(tenant).filter(id__in=proposed.values("fact")),
    }
    for kind, found in facts_by_kind.items():
        newest_facts = found.select_related("conversation", "changeset").order_by("-id")
        for fact in newest_facts[:CANDIDATES]:
            yield Item(kind, fact, [fact], REASONS[kind])
    red = MemoryTest.objects.of(tenant).filter(broken_by__isnull=False)
    for test in red.select_related("conversation").order_by("-id")[:CANDIDATES]:
        yield Item("test", test, [], REASONS["test"], doubt=1.0)
