"""Applies what an engine proposed, step by step, inside the transaction of its run."""

from __future__ import annotations

import uuid

from episodic.models import Role
from memoryproject.process.crash_points import Point, pass_point
from semantic import queries
from semantic.engines import (
    Action,
    Category,
    Consolidation,
    Proposal,
    Suggestion,
    SuggestionKind,
    own_index,
)
from semantic.models import Change, Fact
from semantic.services import (
    Ledger,
    NewFact,
    Support,
    Vectors,
    invalidate_fact,
    open_fact,
    open_facts,
    put_state,
    reinforce_fact,
    support_in,
)
from semantic.similar_facts import find_declared_wrong, find_same
from semantic.snapshots import Snapshot
from semantic.sources import Sources
from semantic.states import State
from semantic.steering import steers_agent
from semantic.suggestions import CAP, NewSuggestion, create_suggestions

FACT_CHARACTERS_AT_MOST = 1_000
"""A fact is one sentence; what is longer is no fact, and would crowd answers out."""
ECHO = "echo"
"""Note of what was left undone because it only repeats what an answer served."""
DECLARED_WRONG = "declared_wrong"
"""Note of what was left undone because a curator has declared it wrong."""
TOOL_SOURCE = "tool_source"
"""Note of what was left undone because a tool said it: a web page, a file, a search."""
WAITS = "waits"
"""Note of what a curator must approve before anybody is served it."""
SAID_BY_USER = "said_by_user"
"""Note of what need not wait any more."""
NO_PAIR = "no_pair"
"""Note of what an engine suggested of facts that are not there, or not two."""
NEAR_WORDS = "near_words"
"""Reason to suggest that a fact which was opened says what another one does."""
NOT_FROM_TOOLS = frozenset({Category.IDENTITY, Category.GUIDELINE})


def cap_invalidations(shown: int) -> int:
    """Return how many active facts one run may invalidate: no answer empties a memory."""
    return min(12, max(3, shown // 5))


def cap_openings(lines: int) -> int:
    """Return how many facts one run may open of so many messages: none floods a memory."""
    return min(400, max(40, 4 * lines))


class Writer:
    """Applies the proposals of one run, in order, inside its transaction."""

    def __init__(
        self, snapshot: Snapshot, answer: Consolidation, vectors: Vectors, ledger: Ledger
    ) -> None:
        self._snapshot = snapshot
        self._answer = answer
        self._vectors = vectors
        self._ledger = ledger
        self._conversation = ledger.conversation
        self._sources = Sources(snapshot.texts, quotes=bool(snapshot.quoted))
        self._result: dict[int, Fact] = {}
        self._closed: set[uuid.UUID] = set()
        self._invalidations_left = cap_invalidations(len(snapshot.facts_by_alias))
        self._openings_left = cap_openings(sum(len(text.lines) for text in snapshot.texts))
        self._declared_wrong: dict[uuid.UUID, Fact] | None = None  # until it is asked for
        self._suggested: list[NewSuggestion] = []

    def apply_all(self) -> None:
        """Write every proposal; nothing is left out without a trace in the changeset."""
        for memory_id in self._snapshot.quoted:
            self._ledger.note(Change.Action.SKIP, memory_id=memory_id, note=ECHO)
        for position, proposal in enumerate(self._answer.proposals):
            named = self._find_named(proposal.alias)
            fact = self._apply(proposal, named, self._vectors[position])
            pass_point(Point.FACT_APPLIED)
            if fact is not None:
                self._result[position] = fact
        for suggestion in self._answer.suggestions:
            self._suggest_named(suggestion)
        create_suggestions(self._suggested, ledger=self._ledger)

    def _find_named(self, alias: str | None) -> Fact | None:
        """Return the fact that an alias stands for so far, be it closed by now."""
        own = own_index(alias)
        if own is not None:
            return self._result.get(own)
        return self._snapshot.facts_by_alias.get(alias or "")

    def _suggest_named(self, suggestion: Suggestion) -> None:
        """Take up what the engine suggests, if the facts that it names are there."""
        old, new = self._find_named(suggestion.old), self._find_named(suggestion.new)
        if old is None or old == new or (new is None and suggestion.new is not None):
            left = old.id if old else None
            self._ledger.note(Change.Action.SKIP, memory_id=left, note=NO_PAIR)
            return
        ended = None if new else max(episode.end_at for episode in self._snapshot.episodes)
        self._suggested.append(NewSuggestion(suggestion.kind, old, new, suggestion.reason, ended))

    def _apply(self, proposal: Proposal, named: Fact | None, vector: Vectors) -> Fact | None:
        target = None if named is None or named.id in self._closed else named
        astray = "unknown_alias" if named is None else "closed"
        objection = self._find_objection(proposal, target, astray=astray)
        gains = target.fact if target and proposal.action is Action.REINFORCE else ""
        if objection in {"", TOOL_SOURCE} and self._skip_echo(proposal, target, gains=gains):
            return None
        if objection:
            left = named.id if named else None
            self._ledger.note(Change.Action.SKIP, memory_id=left, note=objection)
            return None
        new = self._make_new(proposal, vector)
        if self._must_wait(proposal, target):
            self._queue_for_review(proposal, new)
            return None
        if target is None or proposal.action is Action.NEW:
            note = "" if proposal.action is Action.NEW else astray
            return self._open_or_merge(proposal, new, note=note)
        if proposal.action is Action.REINFORCE:
            support = self._support_of(proposal, sentence=target.fact)
            reinforce_fact(target, support, ledger=self._ledger)
            return target
        if proposal.action is Action.UPDATE:
            return self._replace(new, target)
        if not self._may_invalidate(proposal):
            kind = SuggestionKind.CONTRADICTION
            self._suggested.append(NewSuggestion(kind, target, None, CAP, new.valid_at))
            return None
        self._closed.add(target.id)
        invalidate_fact(target, ledger=self._ledger, valid_until=new.valid_at)
        return None

    def _find_objection(self, proposal: Proposal, target: Fact | None, *, astray: str) -> str:
        """Return the code under which a proposal is left undone; empty where it may be done.

        One that names no fact we know opens its own, unless it says that this fact is
        over: to open that would hold what nobody claims. Neither does one bring back
        what an earlier one of the same run has closed.
        """
        action, fact = proposal.action, proposal.fact
        if target is None and action is not Action.NEW:
            brings_back = action is Action.REINFORCE and astray == "closed"
            if action is Action.INVALIDATE or brings_back or not fact:
                return astray
        opens = target is None or action is Action.UPDATE
        if opens and not fact:
            return "empty"
        if opens and len(fact) > FACT_CHARACTERS_AT_MOST:
            return "too_long"
        if self._is_tools_word(proposal, target):
            return TOOL_SOURCE
        # A guideline steers the agent: what a web page or the assistant itself said ends none.
        ends = target is not None and action is Action.INVALIDATE
        if ends and target is not None and target.category == Category.GUIDELINE:
            said = self._sources.is_said_by(proposal, role=Role.USER)
            return "" if said else "guideline_source"
        return ""

    def _is_tools_word(self, proposal: Proposal, target: Fact | None) -> bool:
        """Return whether a tool would set, confirm or end who somebody is, or a guideline."""
        kinds = {target.category} if target is not None else set()
        if target is None or proposal.action in {Action.NEW, Action.UPDATE}:
            kinds.add(proposal.category)
        guarded = bool(kinds & NOT_FROM_TOOLS) or steers_agent(proposal.fact)
        return guarded and self._sources.is_of_tools(proposal)

    def _must_wait(self, proposal: Proposal, target: Fact | None) -> bool:
        """Return whether no user steers the agent, or perhaps a tool says who somebody is."""
        if target is not None and proposal.action not in {Action.NEW, Action.UPDATE}:
            return False
        replaces = target is not None and target.category == Category.GUIDELINE
        steers = proposal.category is Category.GUIDELINE or steers_agent(proposal.fact)
        if proposal.category is Category.IDENTITY and not self._sources.is_vouched_for(proposal):
            return True
        return (steers or replaces) and not self._sources.is_of_users_alone(proposal)

    def _queue_for_review(self, proposal: Proposal, new: NewFact) -> None:
        """Keep a fact for a curator; one that is held or waits already gets the evidence."""
        same = queries.find_active(conversation=self._conversation, fact=new.fact)
        if same is None and self._skip_declared_wrong(new):
            return
        same = same or queries.find_waiting(conversation=self._conversation, fact=new.fact)
        if same is not None:
            support = self._support_of(proposal, sentence=same.fact)
            reinforce_fact(
                same, support, ledger=self._ledger, action=Change.Action.MERGE, note=WAITS
            )
        elif self._may_open():
            open_facts([new], ledger=self._ledger, note=WAITS, is_pending=True)

    def _skip_echo(self, proposal: Proposal, target: Fact | None, *, gains: str) -> bool:
        """Leave a proposal undone that only repeats an answer, and note what it repeats.

        `gains` is the sentence of the fact that would gain evidence.
        """
        origin = self._sources.find_echo(proposal, sentence=gains)
        if origin is None:
            return False
        memory_id = target.id if target else self._snapshot.served[origin]
        self._ledger.note(Change.Action.SKIP, memory_id=memory_id, note=ECHO)
        return True

    def _may_open(self) -> bool:
        """Count a fact to open; above the cap it is left undone, and noted."""
        self._openings_left -= 1
        if self._openings_left < 0:
            self._ledger.note(Change.Action.SKIP, note=CAP)
        return self._openings_left >= 0

    def _open(self, new: NewFact, *, replaces: Fact | None = None, note: str = "") -> Fact | None:
        """Open a fact; what says the same and waits for a curator need not wait any more."""
        if replaces is None and not self._may_open():
            return None
        opened = open_fact(new, ledger=self._ledger, replaces=replaces, note=note)
        waiting = queries.find_waiting(conversation=self._conversation, fact=new.fact)
        if waiting is not None:
            done = State(Fact.Because.SUPERSEDED, waiting.valid_at, opened.id)
            put_state(waiting, done, ledger=self._ledger, note=SAID_BY_USER)
        return opened

    def _may_invalidate(self, proposal: Proposal) -> bool:
        """Ending what this run opened itself is free; ending what was active is capped."""
        if own_index(proposal.alias) is not None:
            return True
        self._invalidations_left -= 1
        return self._invalidations_left >= 0

    def _replace(self, new: NewFact, target: Fact) -> Fact | None:
        same = queries.find_active(conversation=self._conversation, fact=new.fact)
        if same is not None and same.id == target.id:
            reinforce_fact(target, new.support, ledger=self._ledger, note="same_text")
            return target
        if same is None and self._skip_declared_wrong(new):
            return None
        self._closed.add(target.id)
        if same is None:
            return self._open(new, replaces=target)
        reinforce_fact(same, new.support, ledger=self._ledger)
        invalidate_fact(target, ledger=self._ledger, valid_until=new.valid_at)
        return same

    def _open_or_merge(self, proposal: Proposal, new: NewFact, *, note: str) -> Fact | None:
        same, reworded = find_same(new, ledger=self._ledger)
        if same is None and self._skip_declared_wrong(new):
            return None
        if same is None:
            opened = self._open(new, note=note)
            if opened and reworded:
                kind = SuggestionKind.DUPLICATE
                self._suggested.append(NewSuggestion(kind, reworded, opened, NEAR_WORDS))
            return opened
        if self._skip_echo(proposal, same, gains=same.fact):
            return None
        support = self._support_of(proposal, sentence=same.fact)
        reinforce_fact(same, support, ledger=self._ledger, action=Change.Action.MERGE, note=note)
        return same

    def _skip_declared_wrong(self, new: NewFact) -> bool:
        """Leave a fact undone that was declared wrong, in these words or in like ones."""
        if self._declared_wrong is None:
            self._declared_wrong = queries.facts_declared_wrong(self._conversation)
        wrong = find_declared_wrong(new, self._declared_wrong, ledger=self._ledger)
        if wrong is not None:
            self._ledger.note(Change.Action.SKIP, memory_id=wrong.id, note=DECLARED_WRONG)
        return wrong is not None

    def _make_new(self, proposal: Proposal, vector: Vectors) -> NewFact:
        support = self._support_of(proposal)
        return NewFact(
            category=proposal.category,
            fact=proposal.fact,
            keywords=proposal.keywords,
            valid_at=proposal.valid_at or max(item.episode.end_at for item in support),
            valid_until=proposal.valid_until,
            support=support,
            vector=vector,
        )

    def _support_of(self, proposal: Proposal, *, sentence: str = "") -> tuple[Support, ...]:
        """Return the episodes behind a proposal, and its messages in them that are no echoes.

        `sentence` is that of the fact that gains the evidence.
        """
        episodes = self._snapshot.episodes
        if proposal.episode is None or not 0 <= proposal.episode < len(episodes):
            return tuple(Support(episode) for episode in episodes)
        episode = episodes[proposal.episode]
        return (support_in(episode, self._sources.own_seqs(proposal, sentence=sentence)),)
