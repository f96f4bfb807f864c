"""A conversation in which the pipeline learns what a test says, word by word."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from episodic import segmentation
from episodic.engines import Line, Segment, Segmentation, Vectors
from episodic.models import Conversation, Message
from jobs import claims
from jobs.models import Job
from retrieval.receipts import echoes
from semantic import consolidation
from semantic.curation import Act
from semantic.engines import (
    Action,
    Category,
    Consolidation,
    EpisodeText,
    KnownFact,
    Proposal,
    Suggestion,
    SuggestionKind,
)
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.models import Suggestion as Row
from tests.conftest import Agent
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages

Wish = tuple[Action, str, str]
"""What to do, the sentence of the fact that it is about ("" for a new one), and what is said."""


def new(sentence: str) -> Wish:
    return (Action.NEW, "", sentence)


def replace(old: str, sentence: str) -> Wish:
    return (Action.UPDATE, old, sentence)


def confirm(old: str) -> Wish:
    return (Action.REINFORCE, old, old)


def end(old: str) -> Wish:
    return (Action.INVALIDATE, old, "")


Hint = tuple[SuggestionKind, str, str | None, str]
"""What two sentences look like, that of the new fact None where there is none, and why."""


def contradicts(old: str, new: str | None, reason: str = "same_slot") -> Hint:
    return (SuggestionKind.CONTRADICTION, old, new, reason)


def repeats(old: str, new: str) -> Hint:
    return (SuggestionKind.DUPLICATE, old, new, "near_words")


class OneEpisode:
    """A segmenter that makes one episode of what it gets."""

    def segment(
        self, *, lines: Sequence[Line], vectors: Vectors, previous_summary: str
    ) -> Segmentation:
        whole = Segment(0, len(lines) - 1, "Mira and Jonas talk", "Mira and Jonas talk.", 0.2)
        return Segmentation(segments=(whole,), engine="test")


@dataclass
class Wishes:
    """A consolidator that proposes what it is told to; `meanwhile` happens as it thinks."""

    wishes: Sequence[Wish]
    hints: Sequence[Hint] = ()
    meanwhile: Callable[[], object] = lambda: None
    known_at_most: int = 60

    def consolidate(
        self, *, episodes: Sequence[EpisodeText], known: Sequence[KnownFact]
    ) -> Consolidation:
        alias = {fact.fact: fact.alias for fact in known}
        self.meanwhile()
        proposals = tuple(
            Proposal(
                action=action,
                alias=alias.get(about, "F99") if about else None,
                category=Category.IDENTITY,
                fact=sentence,
                keywords=("Mira",),
                episode=0,
                seqs=(next(line.seq for line in episodes[0].lines if line.role == "user"),),
            )
            for action, about, sentence in self.wishes
        )
        alias |= {wish[2]: f"P{place}" for place, wish in enumerate(self.wishes) if wish[2]}
        suggestions = tuple(
            Suggestion(kind, alias.get(old, "F99"), new and alias.get(new, "P99"), reason)
            for kind, old, new, reason in self.hints
        )
        return Consolidation(proposals=proposals, engine="test", suggestions=suggestions)


@dataclass
class Talk:
    """One conversation of an agent's."""

    agent: Agent
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    user_id: str = ""
    later: timedelta = timedelta(0)
    """How long after the other conversations of a test this one is had."""
    running: claims.Claim = field(init=False)

    def learn(self, *wishes: Wish, hints: Sequence[Hint] = ()) -> Changeset:
        """Say eight messages, and let an engine draw this from them; return the changeset."""
        self.say()
        return self.draw(Wishes(wishes, hints))

    def say(self) -> None:
        """Post eight messages and make an episode of them, whose facts are not drawn yet."""
        lines, start = [(MOVING, MORNING), (RUNNING, EVENING)][self.times_said() % 2]
        body = {"conversation_id": str(self.id), "messages": messages(lines, start + self.later)}
        if self.user_id:
            body["user_id"] = self.user_id
        assert self.agent.post("add_messages", body).status_code == 201
        segmentation.segment_window(
            claim=self.claim(),
            segmenter=OneEpisode(),
            everything=True,
            finish=False,
        )

    def times_said(self) -> int:
        """Return how often eight messages have been said."""
        rows = Message.objects.of(self.agent.tenant)
        return rows.filter(conversation__external_id=self.id).count() // 8

    def claim(self) -> claims.Claim:
        """Take the conversation's flush job, as a worker does."""
        answer = self.agent.post("flush", {"conversation_id": str(self.id)})
        job = Job.objects.of(self.agent.tenant).get(id=answer.json()["job_id"])
        claim = claims.claim(job.id)
        assert claim is not None
        self.running = claim
        return claim

    def draw(self, engine: Wishes) -> Changeset:
        """Draw facts from the fresh episodes, in the job that made them."""
        drawn = consolidation.consolidate_batch(
            claim=self.running,
            consolidator=engine,
            find_answers=echoes.find_answers,
            force=True,
        )
        assert drawn == 1
        return Changeset.objects.of(self.agent.tenant).filter(job_id=self.running.id).get()

    def draw_again(self, *wishes: Wish) -> Changeset:
        """Draw facts from episodes that are to be drawn from once more."""
        self.claim()
        return self.draw(Wishes(wishes))

    def row(self) -> Conversation:
        return Conversation.objects.of(self.agent.tenant).get(external_id=self.id)

    def fact(self, sentence: str) -> Fact:
        """Return the newest fact that says this, held or not."""
        facts = Fact.objects.of(self.agent.tenant).filter(
            conversation__external_id=self.id, fact=sentence
        )
        return facts.order_by("-id")[0]

    def held(self) -> set[str]:
        facts = Fact.objects.of(self.agent.tenant).filter(
            conversation__external_id=self.id, invalid_at=None
        )
        return set(facts.values_list("fact", flat=True))


def steps(changeset: Changeset) -> list[tuple[str, str]]:
    """Return action and note of each step, in order."""
    taken = Change.objects.of(changeset.tenant).filter(changeset=changeset).order_by("position")
    return list(taken.values_list("action", "note"))


def act(agent: Agent, reason: str = "Mira said so herself.") -> Act:
    return Act(tenant=agent.tenant, actor="lin", reason=reason)


def counting_evidence(fact: Fact) -> int:
    return Evidence.objects.of(fact.tenant).filter(fact=fact, withdrawn_by=None).count()


def leave_suggestion(agent: Agent, old: Fact | None = None, new: Fact | None = None) -> Row:
    """Have a contradiction suggested of two facts, or of the newest two that are active."""
    if old is None:
        active = Fact.objects.of(agent.tenant).filter(invalid_at=None).order_by("-id")
        new, old = active.select_related("conversation", "changeset")[:2]
    return Row.objects.create(
        tenant=agent.tenant,
        conversation=old.conversation,
        changeset=(new or old).changeset,
        kind=SuggestionKind.CONTRADICTION,
        old_fact=old,
        new_fact=new,
        reason="same_slot" if new else "cap",
    )
