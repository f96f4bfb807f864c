"""Computes which changesets are in effect, and the state of a fact that results.

A revert takes a changeset out of effect; a revert of the revert puts it back. The state of a fact
results from the steps in effect, in their order, so it does not matter in which order changesets
are undone.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Q, QuerySet

from memoryproject.database.batches import in_batches
from memoryproject.tenancy.models import Tenant
from semantic import states
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.user_facts import facts_beside, list_ids_beside


@dataclass(frozen=True, slots=True)
class Effect:
    """The state of a fact before and after a step. `before` None: the step opened it."""

    changeset: Changeset
    before: states.State | None
    after: states.State


@dataclass(frozen=True, slots=True)
class Past:
    """The steps that opened, closed or restored a fact, oldest first, and its evidence.

    `supporters`: changesets that added evidence of its own conversation; `elsewhere`: of other
    ones.
    """

    fact: Fact
    effects: Sequence[Effect]
    supporters: frozenset[uuid.UUID]
    elsewhere: frozenset[uuid.UUID] = frozenset()

    def state_without(self, undone: frozenset[uuid.UUID]) -> states.State:
        """Return the state of the fact when these changesets are out of effect.

        A fact that nothing closed keeps the state in which it was opened, if it was opened or has
        evidence of its own conversation. Other conversations' evidence does not keep it, since it
        is in this one's words; they extract it anew in theirs, see `redrawing.py`.
        """
        kept = [effect for effect in self.effects if effect.changeset.id not in undone]
        changed = [effect.after for effect in kept if effect.before is not None]
        if changed:
            return changed[-1]
        if kept or self.supporters - undone:
            opened = (effect.after for effect in self.effects if effect.before is None)
            return next(opened, states.State())
        return states.State(because=Fact.Because.REVERTED, valid_until=self.fact.valid_at)

    def changed_after(
        self, changeset_id: uuid.UUID, *, undone: frozenset[uuid.UUID]
    ) -> tuple[Changeset, ...]:
        """Return the changesets in effect that changed the fact after one, oldest first."""
        made_by = dict.fromkeys(effect.changeset for effect in self.effects)
        return tuple(one for one in made_by if one.id > changeset_id and one.id not in undone)


Pasts = dict[uuid.UUID, Past]


class Reverts:
    """The changesets out of effect, `now` and `after` a given one is reverted."""

    def __init__(self, changeset: Changeset) -> None:
        rows = Changeset.objects.of(changeset.tenant).filter(kind=Changeset.Kind.REVERT)
        self.facts = Fact.objects.of(changeset.tenant)
        """Facts that the changeset may have touched, unless they are another user's by now."""
        home = changeset.conversation
        if home is None:
            rows = rows.filter(conversation=None)
        else:
            home.tenant = changeset.tenant  # or the database would be asked for it
            rows = rows.filter(conversation__in=list_ids_beside(home))
            self.facts = facts_beside(home)
        newest_first = rows.exclude(reverts=None).order_by("-id")
        self._targets = dict(newest_first.values_list("id", "reverts_id"))
        self._changeset = changeset
        self.now = self._find_undone(set())
        self.after = self._find_undone({changeset.id})
        self.root = changeset.id
        """The changeset that a chain of reverts is about in the end."""
        while self.root in self._targets:
            self.root = self._targets[self.root]

    def _find_undone(self, undone: set[uuid.UUID]) -> frozenset[uuid.UUID]:
        """Return all changesets that are out of effect if these are."""
        for revert_id, target in self._targets.items():
            if revert_id not in undone:
                undone.add(target)
        return frozenset(undone)

    def find_revert(self) -> Changeset | None:
        """Return the changeset in effect that undid this one, or None."""
        if self._changeset.id not in self.now:
            return None
        valid = Changeset.objects.of(self._changeset.tenant).exclude(id__in=self.now)
        return valid.filter(reverts=self._changeset).order_by("id").first()


def facts_touched(*, tenant: Tenant, changeset_ids: Iterable[uuid.UUID]) -> list[uuid.UUID]:
    """Return the facts that changesets opened, closed or gave evidence, in that order."""
    ids = list(changeset_ids)
    changes = Change.objects.of(tenant).filter(changeset__in=ids).exclude(states={})
    stored = changes.order_by("changeset_id", "position").values_list("states", flat=True)
    changed = map(uuid.UUID, chain.from_iterable(stored))
    evidence = Evidence.objects.of(tenant).filter(changeset__in=ids).order_by("id")
    return list(dict.fromkeys([*changed, *evidence.values_list("fact_id", flat=True)]))


def read_pasts(facts: QuerySet[Fact], *, tenant: Tenant, fact_ids: Sequence[uuid.UUID]) -> Pasts:
    """Return the history of each of some facts, by id; four queries per batch of facts.

    Uses indexes: semantic_change_by_memory, semantic_change_by_other.
    """
    pasts: Pasts = {}
    evidence = Evidence.objects.of(tenant).filter(fact=OuterRef("id")).values("changeset_id")
    supporters = ArraySubquery(evidence.filter(conversation=None))
    elsewhere = ArraySubquery(evidence.exclude(conversation=None))
    for ids in in_batches(fact_ids):
        effects = _read_effects(tenant, ids)
        rows = facts.filter(id__in=ids)
        for fact in rows.annotate(supporters=supporters, elsewhere=elsewhere):
            others = frozenset(fact.elsewhere)
            pasts[fact.id] = Past(fact, effects[fact.id], frozenset(fact.supporters), others)
    return pasts


def _read_effects(tenant: Tenant, fact_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, list[Effect]]:
    effects: dict[uuid.UUID, list[Effect]] = defaultdict(list)
    touching = Q(memory_id__in=fact_ids) | Q(other_memory_id__in=fact_ids)
    changes = Change.objects.of(tenant).filter(touching).exclude(states={})
    # A revert has no effect of its own: it decides which others have one.
    acts = changes.exclude(changeset__kind=Changeset.Kind.REVERT)
    rows = acts.order_by("changeset_id", "position").values_list("changeset_id", "states")
    pairs = [
        (changeset_id, uuid.UUID(fact_id), states.from_json(before), states.from_json(after))
        for changeset_id, stored in rows
        for fact_id, (before, after) in stored.items()
    ]
    changesets = Changeset.objects.of(tenant).in_bulk({changeset_id for changeset_id, *_ in pairs})
    newer_ids = {after.superseded_by for *_, after in pairs if after and after.superseded_by}
    newer = Fact.objects.of(tenant).filter(id__in=newer_ids)
    known = {None, *newer.values_list("id", flat=True)}
    for changeset_id, fact_id, before, after in pairs:
        if after is not None and after.superseded_by not in known:
            after = replace(after, superseded_by=None)  # erased since: no row can name it
        if after is not None:
            effects[fact_id].append(Effect(changesets[changeset_id], before, after))
    return effects
