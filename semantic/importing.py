"""Bringing in facts from a file: each row is checked, and what is not held is opened.

An import is a changeset with its actor and reason, and so can be reverted. It opens only
what is not held: doing it twice does it once. A fact that was declared wrong stays out.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db import transaction

from episodic import queries as episodic_queries
from episodic import services as episodic
from episodic.models import Conversation, Episode
from indexing.detection import detect_language
from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.ai import embeddings
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.tenancy.models import Tenant
from semantic import queries
from semantic.curation import Act, open_ledger
from semantic.engines import fact_embedding_text
from semantic.file_rows import Row
from semantic.models import Change, Changeset, Fact
from semantic.reverting import find_revert
from semantic.services import Ledger, NewFact, Support, Vectors, open_facts

EMBEDDED_AT_ONCE = 200
"""More facts than these get their vectors from a job; words find them until then."""


class Fate(StrEnum):
    """What becomes of a row."""

    NEW = "new"
    HELD = "held"
    """The conversation holds this sentence already."""
    WRONG = "wrong"
    """Somebody has declared it wrong in this conversation."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What rows would come to now, in their order; nothing is locked.

    `unknown_episodes`: those named as evidence that their conversation does not have.
    """

    fates: tuple[Fate, ...]
    known_conversations: frozenset[uuid.UUID]
    unknown_episodes: int


def survey(*, tenant: Tenant, rows: Sequence[Row]) -> Survey:
    """Return what rows would come to, a fixed number of queries for all of them."""
    wanted = {row.conversation for row in rows}
    found = Conversation.objects.of(tenant).filter(external_id__in=wanted)
    by_external = {one.external_id: one for one in found}
    held, wrong = _find_known(by_external.values(), rows)
    episodes = _find_episodes(by_external.values(), rows)
    fates = []
    unknown = 0
    for row in rows:
        home = by_external.get(row.conversation)
        key = (home.id if home else None, queries.content_hash(row.fact))
        fates.append(Fate.HELD if key in held else Fate.WRONG if key in wrong else Fate.NEW)
        mine = episodes.get(home.id, {}) if home else {}
        unknown += sum(one not in mine for one in row.support)
    return Survey(tuple(fates), frozenset(by_external), unknown)


Keys = set[tuple[uuid.UUID | None, str]]


def _find_known(conversations: Iterable[Conversation], rows: Sequence[Row]) -> tuple[Keys, Keys]:
    """Return which sentences are held, and which were declared wrong, by conversation.

    Uses index: semantic_fact_held_once, semantic_fact_declared_wrong.
    """
    homes = list(conversations)
    if not homes:
        return set(), set()
    hashes = {queries.content_hash(row.fact) for row in rows}
    facts = Fact.objects.of(homes[0].tenant).filter(
        conversation__in=[one.id for one in homes], content_hash__in=hashes
    )
    held = facts.filter(invalid_at=None).values_list("conversation_id", "content_hash")
    wrong = facts.filter(invalidated_because=Fact.Because.WRONG)
    return set(held), set(wrong.values_list("conversation_id", "content_hash"))


def _find_episodes(
    conversations: Iterable[Conversation], rows: Sequence[Row]
) -> dict[uuid.UUID, dict[uuid.UUID, Episode]]:
    """Return the episodes that rows name, by conversation and by id."""
    homes = list(conversations)
    named = {one for row in rows for one in row.support}
    found: dict[uuid.UUID, dict[uuid.UUID, Episode]] = defaultdict(dict)
    if homes and named:
        episodes = Episode.objects.of(homes[0].tenant).filter(id__in=named)
        for episode in episodes.filter(conversation__in=[one.id for one in homes]):
            found[episode.conversation_id][episode.id] = episode
    return found


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of some rows. `changesets` are in the order of the rows' conversations."""

    opened: int
    changesets: tuple[uuid.UUID, ...]


def embed_rows(rows: Sequence[Row]) -> list[Vectors | None]:
    """Return the vector of each row; None where there are too many, or the model is away."""
    texts = [
        fact_embedding_text(category=row.category, fact=row.fact, keywords=row.keywords)
        for row in rows
    ]
    if len(texts) > EMBEDDED_AT_ONCE:
        return [None] * len(texts)
    try:
        return list(embeddings.embed_passages(texts))
    except (ModelUnavailable, ModelMisbehaved):
        return [None] * len(texts)


def import_rows(
    *,
    act: Act,
    rows: Sequence[Row],
    vectors: Sequence[Vectors | None],
    goes_on: uuid.UUID | None = None,
) -> Imported:
    """Open the facts that are not held yet, with a changeset for each conversation.

    A conversation that is not there is made. A batch of the same file may follow on the
    changeset `goes_on` of an earlier one. Vectors that are missing are left to a job.

    Raises:
        Problem: the act has no reason.
    """
    by_home: dict[uuid.UUID, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        by_home[row.conversation].append(place)
    opened, changesets = 0, []
    with transaction.atomic():
        # Always in this order, so that two imports do not wait for each other in a circle.
        for external_id in sorted(by_home):
            mine = [rows[place] for place in by_home[external_id]]
            given = [vectors[place] for place in by_home[external_id]]
            ledger = _import_into(external_id, act=act, rows=mine, vectors=given, goes_on=goes_on)
            if ledger is not None:
                opened += len(ledger.changes)
                changesets.append(ledger.changeset.id)
    return Imported(opened, tuple(changesets))


def _import_into(
    external_id: uuid.UUID,
    *,
    act: Act,
    rows: Sequence[Row],
    vectors: Sequence[Vectors | None],
    goes_on: uuid.UUID | None,
) -> Ledger | None:
    """Return the changeset, closed; None where nothing was new."""
    conversation = _lock_or_make(external_id, act=act, rows=rows)
    looked = survey(tenant=act.tenant, rows=rows)
    fresh: dict[str, int] = {}
    for place, fate in enumerate(looked.fates):
        if fate is Fate.NEW:
            fresh.setdefault(queries.content_hash(rows[place].fact), place)
    if not fresh:
        return None
    ledger = _open_or_go_on(conversation, act=act, goes_on=goes_on)
    episodes = _find_episodes([conversation], rows)[conversation.id]
    open_facts(
        [_to_new(rows[place], vectors[place], episodes, ledger.now) for place in fresh.values()],
        ledger=ledger,
    )
    ledger.close()
    if any(vectors[place] is None for place in fresh.values()):
        enqueue(tenant=act.tenant, kind=Kind.EMBED, scope=conversation.id)
    return ledger


def _lock_or_make(external_id: uuid.UUID, *, act: Act, rows: Sequence[Row]) -> Conversation:
    conversation = episodic.lock_or_make(tenant=act.tenant, external_id=external_id)
    is_new = conversation.next_seq == 1 and not queries.count_active(conversation)
    if is_new:
        conversation.language = detect_language([row.fact for row in rows])
        conversation.save(update_fields=["language"])
    return conversation


def _open_or_go_on(conversation: Conversation, *, act: Act, goes_on: uuid.UUID | None) -> Ledger:
    """Return the ledger of the earlier batch's changeset, unless that was reverted since."""
    earlier = _find_changeset(goes_on, conversation) if goes_on else None
    if earlier is None or find_revert(earlier) is not None:
        return open_ledger(act, conversation, kind=Changeset.Kind.IMPORT)
    return Ledger(
        changeset=earlier,
        conversation=conversation,
        embedding_model=embeddings.get_embedder().name,
        now=episodic_queries.database_now(),
        position=Change.objects.of(act.tenant).filter(changeset=earlier).count(),
    )


def _find_changeset(changeset_id: uuid.UUID, conversation: Conversation) -> Changeset | None:
    mine = Changeset.objects.of(conversation.tenant).filter(conversation=conversation)
    return mine.filter(id=changeset_id).first()


def _to_new(
    row: Row, vector: Vectors | None, episodes: Mapping[uuid.UUID, Episode], now: datetime
) -> NewFact:
    return NewFact(
        category=row.category,
        fact=row.fact,
        keywords=row.keywords,
        valid_at=row.valid_at or now,
        support=tuple(
            _to_support(episodes[one], seqs) for one, seqs in row.support.items() if one in episodes
        ),
        vector=vector,
    )


def _to_support(episode: Episode, seqs: Sequence[int]) -> Support:
    inside = [seq for seq in seqs if episode.first_seq <= seq <= episode.last_seq]
    return Support(episode, tuple(inside))
