"""Applies an engine's proposals, step by step, inside the transaction of its run."""

import uuid
from datetime import datetime

from memoryproject.ai.embeddings import Vectors
from memoryproject.process.crash_points import Point, pass_point
from semantic import engines, queries, services
from semantic.engines import Action, Consolidation, Proposal, SuggestionKind
from semantic.guards import TOOL_SOURCE, find_objection, must_wait
from semantic.models import Change, Fact, Suggestion
from semantic.said_times import SaidTimes
from semantic.similar_facts import SimilarFacts
from semantic.snapshots import Snapshot
from semantic.sources import Sources
from semantic.states import State
from semantic.suggesting import CAP, create_suggestions
from semantic.user_facts import facts_beside

ECHO = "echo"
"""Note of a proposal skipped because it only repeats what an answer served."""
DECLARED_WRONG = "declared_wrong"
"""Note of a proposal skipped because a curator has declared it wrong."""
WAITS = "waits"
"""Note of a proposal that a curator must approve before it is served."""
SAID_BY_USER = "said_by_user"
"""Note of a pending fact that needs no review any longer, since a user has said it."""
NO_PAIR = "no_pair"
"""Note of a suggestion about facts that do not exist, or are not two."""
ELSEWHERE = "elsewhere"
"""Reason and note of a suggested ending of a fact from the user's other conversations."""
SAID_SINCE = "said_since"
"""Note of an ending skipped because another conversation stated the fact later."""
NEAR_WORDS = "near_words"
"""Reason of a suggestion that a new fact says the same as another."""


def cap_invalidations(shown: int) -> int:
    """Return how many active facts one run may invalidate, so that no answer empties a memory."""
    return min(12, max(3, shown // 5))


def cap_openings(lines: int) -> int:
    """Return how many facts one run may open from this many messages: none floods a memory."""
    return min(400, max(40, 4 * lines))


class Writer:
    """Applies the proposals of one run, in order, inside its transaction."""

    def __init__(
        self, snapshot: Snapshot, answer: Consolidation, vectors: Vectors, ledger: services.Ledger
    ) -> None:
        self._snapshot = snapshot
        self._answer = answer
        self._vectors = vectors
        self._ledger = ledger
        self._sources = Sources(snapshot.texts, quotes=bool(snapshot.quoted))
        self._similar = SimilarFacts(ledger.conversation, vectors, snapshot.embedding_model)
        self._named = dict(snapshot.facts_by_alias)
        """The fact that each alias refers to so far, even if it is closed by now."""
        self._closed: set[uuid.UUID] = set()
        self._invalidations_left = cap_invalidations(len(snapshot.facts_by_alias))
        self._openings_left = cap_openings(sum(len(text.lines) for text in snapshot.texts))
        self._suggested: list[Suggestion] = []
        sentences = [proposal.fact for proposal in answer.proposals]
        home = ledger.conversation
        beside = facts_beside(home)
        waiting = beside.filter(invalidated_because=Fact.Because.WAITING)
        self._active = queries.facts_by_hash(beside.filter(invalid_at=None), sentences, home=home)
        self._waiting = queries.facts_by_hash(waiting, sentences, home=home)
        self._times = SaidTimes(home)

    def apply_all(self) -> None:
        """Write every proposal; those that are skipped leave a note in the changeset."""
        for memory_id in self._snapshot.quoted:
            self._skip(ECHO, memory_id)
        for note in self._answer.left_out:
            self._skip(note)
        for position, proposal in enumerate(self._answer.proposals):
            fact = self._apply(proposal, position)
            pass_point(Point.FACT_APPLIED)
            if fact is not None:
                self._named[f"P{position}"] = fact
                self._times.note(fact, self._find_moment(proposal))
        for suggestion in self._answer.suggestions:
            self._suggest_named(suggestion)
        self._ledger.write()
        create_suggestions(self._suggested, ledger=self._ledger)

    def _skip(self, note: str, memory_id: uuid.UUID | None = None) -> None:
        """Skip a proposal, and record why."""
        self._ledger.note(Change.Action.SKIP, memory_id=memory_id, note=note)

    def _suggest_named(self, suggestion: engines.Suggestion) -> None:
        """Store the engine's suggestions whose facts exist."""
        old, new = self._named.get(suggestion.old), self._named.get(suggestion.new or "")
        if old is None or old == new or (new is None and suggestion.new is not None):
            self._skip(NO_PAIR, old.id if old else None)
            return
        ended = suggestion.valid_until
        if new is None and ended is None:
            ended = max(episode.end_at for episode in self._snapshot.episodes)
        self._suggest(suggestion.kind, suggestion.reason, old, new, ended)

    def _suggest(
        self, kind: str, reason: str, old: Fact, new: Fact | None, until: datetime | None = None
    ) -> None:
        """Suggest to curators that the old fact may be over, since `until` if there is no new one.

        Of facts of several conversations, the one stated first is the old one.
        """
        if self._times.is_elsewhere(old) or (new and self._times.is_elsewhere(new)):
            if new is not None and self._times.last(old) > self._times.last(new):
                old, new, until = new, old, None
            elif new is None and until and self._times.last(old) > until:
                self._skip(SAID_SINCE, old.id)
                return
        columns = {"old_fact": old, "new_fact": new, "valid_until": until}
        self._suggested.append(Suggestion(kind=kind, reason=reason, **columns))

    def _apply(self, proposal: Proposal, position: int) -> Fact | None:
        """Write a proposal; return the fact that it opened or confirmed."""
        named = self._named.get(proposal.alias or "")
        target = None if named is None or named.id in self._closed else named
        astray = "unknown_alias" if named is None else "closed"
        objection = find_objection(proposal, target, self._sources, astray=astray)
        gains = target.fact if target and proposal.action is Action.REINFORCE else ""
        if objection in {"", TOOL_SOURCE} and self._skip_echo(proposal, target, gains=gains):
            return None
        if objection:
            self._skip(objection, named.id if named else None)
            return None
        new = self._make_new(proposal, self._vectors[position])
        if must_wait(proposal, target, self._sources):
            self._queue_for_review(proposal, new)
            return None
        if target is None or proposal.action is Action.NEW:
            note = "" if proposal.action is Action.NEW else astray
            return self._open_or_merge(proposal, new, position, note=note)
        if proposal.action is Action.REINFORCE:
            support = self._support_of(proposal, sentence=target.fact)
            services.reinforce_fact(target, support, self._ledger)
            return target
        if not self._times.may_end(target, at=self._find_moment(proposal)):
            return self._suggest_ending(proposal, target, new, position)
        if proposal.action is Action.UPDATE:
            return self._replace(new, target, position)
        if not self._may_invalidate(proposal):
            self._suggest(SuggestionKind.CONTRADICTION, CAP, target, None, new.row.valid_at)
            return None
        self._close(target)
        services.invalidate_fact(target, ledger=self._ledger, valid_until=new.row.valid_at)
        return None

    def _find_moment(self, proposal: Proposal) -> datetime:
        """Return when the messages behind a proposal were said."""
        ends = (episode.end_at for episode in self._snapshot.episodes)
        return self._sources.find_moment(proposal) or max(ends)

    def _suggest_ending(
        self, proposal: Proposal, target: Fact, new: services.NewFact, position: int
    ) -> Fact | None:
        """Suggest that a fact of other conversations is over; open the new fact, if any."""
        if proposal.action is Action.INVALIDATE:
            moment = self._find_moment(proposal)
            self._suggest(SuggestionKind.CONTRADICTION, ELSEWHERE, target, None, moment)
            return None
        opened = self._open_or_merge(proposal, new, position, note=ELSEWHERE)
        if opened is not None and opened.id != target.id:
            self._times.note(opened, self._find_moment(proposal))
            self._suggest(SuggestionKind.CONTRADICTION, ELSEWHERE, target, opened)
        return opened

    def _close(self, target: Fact) -> None:
        """Treat a fact as retired from now on."""
        self._closed.add(target.id)
        self._similar.drop(target)
        self._active.pop(target.content_hash, None)

    def _queue_for_review(self, proposal: Proposal, new: services.NewFact) -> None:
        """Put a fact into the review queue; an active or pending one gets the evidence instead."""
        content_hash = queries.content_hash(new.row.fact)
        same = self._active.get(content_hash)
        if same is None and self._skip_declared_wrong(new):
            return
        same = same or self._waiting.get(content_hash)
        if same is not None:
            support = self._support_of(proposal, sentence=same.fact)
            services.reinforce_fact(same, support, self._ledger, Change.Action.MERGE, WAITS)
        elif self._may_open():
            (waiting,) = services.open_facts(
                [new], ledger=self._ledger, note=WAITS, is_pending=True
            )
            self._waiting[content_hash] = waiting

    def _skip_echo(self, proposal: Proposal, target: Fact | None, *, gains: str) -> bool:
        """Skip a proposal that only repeats an answer, with a note; return whether it was skipped.

        `gains` is the sentence of the fact that would gain evidence.
        """
        origin = self._sources.find_echo(proposal, sentence=gains)
        if origin is None:
            return False
        self._skip(ECHO, target.id if target else self._snapshot.served[origin])
        return True

    def _may_open(self) -> bool:
        """Count a fact to open; above the limit, skip it with a note."""
        self._openings_left -= 1
        if self._openings_left < 0:
            self._skip(CAP)
        return self._openings_left >= 0

    def _take_up(self, opened: Fact, position: int) -> Fact:
        """Treat a fact as active from now on; a pending one that says the same is retired."""
        self._active[opened.content_hash] = opened
        self._similar.add(opened, position)
        waiting = self._waiting.pop(opened.content_hash, None)
        if waiting is not None:
            done = State(Fact.Because.SUPERSEDED, waiting.valid_at, opened.id)
            services.put_state(waiting, done, ledger=self._ledger, note=SAID_BY_USER)
        return opened

    def _may_invalidate(self, proposal: Proposal) -> bool:
        """Return whether a fact may be ended: this run's own always, others up to a limit."""
        if proposal.alias not in self._snapshot.facts_by_alias:
            return True
        self._invalidations_left -= 1
        return self._invalidations_left >= 0

    def _replace(self, new: services.NewFact, target: Fact, position: int) -> Fact | None:
        same = self._active.get(queries.content_hash(new.row.fact))
        if same is not None and same.id == target.id:
            services.reinforce_fact(target, new.support, self._ledger, note="same_text")
            return target
        if same is None and self._skip_declared_wrong(new):
            return None
        self._close(target)
        if same is None:
            opened = services.replace_fact(target, new, ledger=self._ledger)
            return self._take_up(opened, position)
        services.reinforce_fact(same, new.support, self._ledger)
        services.invalidate_fact(target, ledger=self._ledger, valid_until=new.row.valid_at)
        return same

    def _open_or_merge(
        self, proposal: Proposal, new: services.NewFact, position: int, *, note: str
    ) -> Fact | None:
        same, reworded = self._active.get(queries.content_hash(new.row.fact)), None
        if same is None:
            same, reworded = self._similar.find_alike(new, position)
        if same is None and self._skip_declared_wrong(new):
            return None
        if same is None:
            if not self._may_open():
                return None
            (opened,) = services.open_facts([new], ledger=self._ledger, note=note)
            if reworded:
                self._times.note(opened, self._find_moment(proposal))
                self._suggest(SuggestionKind.DUPLICATE, NEAR_WORDS, reworded, opened)
            return self._take_up(opened, position)
        if self._skip_echo(proposal, same, gains=same.fact):
            return None
        support = self._support_of(proposal, sentence=same.fact)
        services.reinforce_fact(same, support, self._ledger, Change.Action.MERGE, note)
        return same

    def _skip_declared_wrong(self, new: services.NewFact) -> bool:
        """Skip a fact that was declared wrong, in the same or in similar words."""
        wrong = self._similar.find_declared_wrong(new)
        if wrong is not None:
            self._skip(DECLARED_WRONG, wrong.id)
        return wrong is not None

    def _make_new(self, proposal: Proposal, vector: Vectors) -> services.NewFact:
        support = self._support_of(proposal)
        row = Fact(
            category=proposal.category,
            fact=proposal.fact,
            keywords=list(proposal.keywords),
            valid_at=proposal.valid_at or max(item.episode.end_at for item in support),
            valid_until=proposal.valid_until,
        )
        row.user_id = self._snapshot.find_user(seq for item in support for seq in item.message_seqs)
        return services.NewFact(row, support, vector)

    def _support_of(self, proposal: Proposal, *, sentence: str = "") -> services.Support:
        """Return the episodes behind a proposal, with its messages in them that are no echoes.

        `sentence` is that of the fact that gains the evidence.
        """
        episodes = self._snapshot.episodes
        if proposal.episode is None:
            return [services.support_in(episode, ()) for episode in episodes]
        episode = episodes[proposal.episode]
        return [services.support_in(episode, self._sources.own_seqs(proposal, sentence=sentence))]
