"""The case of one answer: its facts then and now, episodes, and messages around it.

A fact's sentence never changes; its state at that time is read from changesets.
"""

import re
import uuid
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from django.db.models import Q

from episodic.models import Episode, Message, Review, Role
from episodic.revealing import Reader
from indexing.languages import SIMPLE
from memoryproject.text.parts import Kind
from retrieval.models import Retrieval, RetrievalHit
from retrieval.receipts import ERASED
from semantic import beliefs, states
from semantic.models import Changeset, Evidence, Fact
from wings.console.facts.changes import read_facts, render_change
from wings.console.highlights import count_forms, list_words
from wings.console.transcript import ShownMessage, read_transcript

BEFORE, AFTER = 2, 8
"""Number of messages shown before and after the answer."""
MESSAGES_AT_MOST = 600
CHANGES_AT_MOST = 1_000
HELD = "held"
MARK = re.compile(r" \[(corrected|declared wrong|no longer true) (?:on|since) \d{4}-\d\d-\d\d")
"""The beginning of a correction's mark, after the row that contradicts the correction."""
COMMON_IN = 4
"""A word that is in more than a quarter of the served facts is ignored."""


class Case:
    """Everything about one answer, by a dozen queries however much was served.

    `before` has the last messages before the question, `after` those after it; `reply` is the next
    message of the assistant, if there is one. `facts` and `episodes` are the hits, each with its
    `fact` or `episode`, None if erased; `changed` has the facts whose state has changed since.
    `mark` of a hit or message is the correction that the answer printed beside it.
    """

    def __init__(self, retrieval: Retrieval, *, reader: Reader) -> None:
        self.retrieval, self._reader, through = retrieval, reader, retrieval.through_seq
        hits = RetrievalHit.objects.of(retrieval.tenant).filter(retrieval=retrieval)
        served: list[Any] = list(hits.order_by("rank", "id"))
        self.facts = [hit for hit in served if hit.memory_kind == "fact"]
        self.episodes = [hit for hit in served if hit.memory_kind == "episode"]
        self._evidence = self._read_evidence()
        self._marks = self._read_marks()
        self._messages = self._read_messages()
        self.before = [row for row in self._messages if through - BEFORE < row.seq <= through]
        self.after = [row for row in self._messages if through < row.seq <= through + AFTER]
        self._read_facts()
        self._mark_used_words()
        self.changed = [hit for hit in self.facts if hit.has_changed]
        self._read_episodes()
        self.reply = self._find_reply()

    def _read_evidence(self) -> dict[uuid.UUID, list[Any]]:
        rows = Evidence.objects.of(self.retrieval.tenant).select_related("withdrawn_by", "episode")
        rows = self._reader.rows(rows)
        rows = rows.filter(fact__in=[hit.memory_id for hit in self.facts]).order_by("id")
        evidence: dict[uuid.UUID, list[Any]] = defaultdict(list)
        for row in rows[:CHANGES_AT_MOST]:
            evidence[row.fact_id].append(row)
        return evidence

    def _read_messages(self) -> list[ShownMessage]:
        """Return all messages of the case, in order, by one query."""
        through = self.retrieval.through_seq
        home = self.retrieval.conversation_id
        own = (row for rows in self._evidence.values() for row in rows if _home_of(row) == home)
        seqs = {seq for row in own for seq in row.message_seqs}
        return self._show_messages(
            Q(seq__in=seqs)
            | Q(episode__in=[hit.memory_id for hit in self.episodes])
            | Q(seq__gt=through - BEFORE, seq__lte=through + AFTER),
            at_most=MESSAGES_AT_MOST,
        )

    def _find_reply(self) -> ShownMessage | None:
        """Return the first message of the assistant that came after the question."""
        after = Q(role=Role.ASSISTANT, seq__gt=self.retrieval.through_seq)
        return next(iter(self._show_messages(after, at_most=1)), None)

    def _show_messages(self, wanted: Q, *, at_most: int) -> list[ShownMessage]:
        home = self.retrieval.conversation_id
        if home is None:
            return []
        messages = Message.across_tenants.filter(tenant=self.retrieval.tenant_id)
        ids = messages.filter(wanted, conversation=home).order_by("seq").values("id")[:at_most]
        rows = messages.filter(id__in=ids)
        shown = read_transcript(rows, conversation_id=home, reader=self._reader)
        for message in shown:
            message.mark = self._marks.get(message.seq) or self._marks.get(message.id.hex, "")
        return shown

    def _read_marks(self) -> dict[Any, str]:
        """Return the corrections that the answer printed, by the seq or id of what they are on."""
        marks = find_marks(self.retrieval.parts or ())
        heirs = {heir for _, heir in marks.values() if heir}
        rights = Fact.objects.of(self.retrieval.tenant).in_bulk(map(uuid.UUID, heirs))
        texts = {fact.id.hex: fact.fact for fact in rights.values()}
        return {
            key: f"{what}: {texts.get(heir, ERASED)}" if heir else what
            for key, (what, heir) in marks.items()
        }

    def _read_facts(self) -> None:
        """Set on each hit its fact with states then and now, sources, and later changes."""
        tenant, answer = self.retrieval.tenant, self.retrieval
        ids = [hit.memory_id for hit in self.facts]
        steps_of = beliefs.read_steps_of(tenant, ids)
        facts = read_facts(tenant, (step for steps in steps_of.values() for step in steps), ids)
        by_seq = {message.seq: message for message in self._messages}
        for hit in self.facts:
            hit.mark = self._marks.get(hit.memory_id.hex, "")
            hit.fact, steps = facts.get(hit.memory_id), steps_of[hit.memory_id]
            then = states.State()
            if hit.fact:
                then = beliefs.find_state_at(hit.fact, steps, answer.created_at, act_id=answer.id)
            hit.state_then, hit.valid_until_then = then.because or HELD, then.valid_until
            hit.state_now = (hit.fact.invalidated_because or HELD) if hit.fact else "erased"
            hit.has_changed = hit.state_now != hit.state_then
            hit.sources = self._evidence[hit.memory_id] if hit.fact else []
            for source in hit.sources:
                is_here = _home_of(source) == self.retrieval.conversation_id
                seqs = source.message_seqs if is_here else ()
                source.messages = [by_seq[seq] for seq in seqs if seq in by_seq]
                source.state = self._name_source_state(source)
            hit.later = [
                render_change(step, facts, about=hit.memory_id)
                for step in steps
                if self._comes_after(step.changeset)
            ]

    def _comes_after(self, changeset: Changeset) -> bool:
        """Return whether a changeset is later than the answer; at the same moment, by id."""
        answer = self.retrieval
        return (changeset.started_at, changeset.id) > (answer.created_at, answer.id)

    def _name_source_state(self, row: Evidence) -> str:
        if (row.created_at, row.id) > (self.retrieval.created_at, self.retrieval.id):
            return "added later"
        if row.withdrawn_by is None:
            return ""
        return "withdrawn later" if self._comes_after(row.withdrawn_by) else "withdrawn before"

    def _mark_used_words(self) -> None:
        """Set on each hit the words of its fact in the agent's reply, if readable.

        Words that many of the facts have are ignored.
        """
        home = self.retrieval.conversation
        language = home.language if home else SIMPLE
        replies = [
            row.text for row in self.after if row.role == Role.ASSISTANT and not row.is_masked
        ]
        counts = count_forms([hit.fact.fact for hit in self.facts if hit.fact], language)
        most = max(1, len(self.facts) // COMMON_IN)
        rare = {form for form in count_forms(replies, language) if 0 < counts[form] <= most}
        for hit in self.facts:
            hit.used = list_words(hit.fact.fact, rare, language) if hit.fact else ()

    def _read_episodes(self) -> None:
        """Set on each hit its episode, with messages and reviews."""
        tenant, ids = self.retrieval.tenant, [hit.memory_id for hit in self.episodes]
        episodes = self._reader.rows(Episode.objects.of(tenant)).in_bulk(ids)
        rows = Review.objects.of(tenant).filter(episode__in=list(episodes))
        reviews = list(rows.filter(retrieval_id=self.retrieval.id).order_by("id"))
        for hit in self.episodes:
            hit.episode = episodes.get(hit.memory_id)
            hit.mark = self._marks.get(hit.memory_id.hex, "")
            hit.messages = [row for row in self._messages if row.episode_id == hit.memory_id]
            hit.reviews = [row for row in reviews if row.episode_id == hit.memory_id]


def _home_of(row: Evidence) -> uuid.UUID:
    """Return the conversation of evidence; its episode is loaded."""
    return row.episode.conversation_id  # type: ignore[no-any-return]


def find_marks(parts: Sequence[Any]) -> dict[Any, tuple[str, str]]:
    """Return the marks in an answer's parts, by the seq or id of the row before each.

    Each is what has become of the row, with the id of the fact that is right; empty if none is.
    """
    marks: dict[Any, tuple[str, str]] = {}
    row = None
    for part, following in pairwise([*parts, ""]):
        if not isinstance(part, str):
            row = part[1]
        elif found := MARK.search(part):
            has_heir = not isinstance(following, str) and following[0] == Kind.CORRECTION
            marks[row] = found[0].strip(" ["), following[1] if has_heir else ""
    return marks
