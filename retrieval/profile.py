"""Builds the profile of a user, a conversation or an agent: facts to know before any question.

Facts are chosen by category, by how much they name and by age, in one statement, without a query, a
model or an embedding. Of two values of one subject the profile shows the newer; the older one is
kept as `earlier`, as an explanation.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from episodic.models import Conversation
from indexing.models import MemoryKind
from indexing.owners import owners_of_several
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import DEFANGED
from memoryproject.text.parts import join
from memoryproject.text.tokens import count_tokens, in_use
from retrieval import receipts
from retrieval.corrections import find_corrections
from retrieval.hits import (
    LOADED_FIXED,
    EpisodeHit,
    FactHit,
    Hit,
    read_candidates,
)
from retrieval.markdown import Fence
from retrieval.models import Retrieval
from retrieval.profile_lines import (
    HEADINGS,
    Line,
    fit_lines,
    render_episode,
    render_facts,
    write_lines,
)
from retrieval.request import USER
from retrieval.scope import Scope, find_scope
from retrieval.statements import read_profile, run, to_array
from retrieval.successions import find_succession, moment_of
from semantic.engines import SuggestionKind

QUERY = "Profile"
"""The question in a profile's receipt, too short to count as somebody's words in an erasure."""
MAX_TOKENS = 400
A_CATEGORY, PINNED, LAST_EPISODES = 40, 30, 3
"""Number of facts per category, of more guidelines and dangers, and of episodes read."""
AGENT_HOMES = 200
"""Number of an agent's newest conversations that its profile is made from."""
LEAD = 2
"""Number of words with which two values of one subject begin alike."""


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """The options of a profile; `sections` in the order of `HEADINGS`."""

    max_tokens: int = MAX_TOKENS
    sections: tuple[str, ...] = tuple(HEADINGS)
    as_of: datetime | None = None
    """Time at which the facts were true; None: now."""
    links: str = DEFANGED


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile, with the receipt to store once somebody is served it."""

    lines: list[Line]
    """Sections in the order of the text."""
    earlier: Mapping[str, list[FactHit]]
    """Facts that a fact replaces, newest first, by its id."""
    left_out: int
    """Lines that did not fit into the budget."""
    text: str
    receipt: Retrieval

    @property
    def hits(self) -> list[Hit]:
        """Everything served, in its order."""
        return [line.hit.found for line in self.lines]


def of_user(tenant: Tenant, user_id: str) -> Scope | None:
    """Return the scope of a user's profile; None if the caller may see nothing."""
    return find_scope(tenant=tenant, conversation=None, scope=USER, user_id=user_id)


def of_agent(tenant: Tenant, agent_id: str) -> Scope | None:
    """Return the scope of an agent's profile, its newest conversations; None if it has none.

    Uses index: episodic_conversation_by_agent.
    """
    led = Conversation.objects.of(tenant).filter(agent_id=agent_id).exclude(agent_id="")
    rows = list(led.order_by("-id")[:AGENT_HOMES])
    if not rows:
        return None
    has_corrections = any(row.has_corrections for row in rows)
    homes = tuple(row.id for row in rows)
    return Scope(tenant, homes=homes, agent_id=agent_id, has_corrections=has_corrections)


def draft_profile(
    tenant: Tenant, scope: Scope | None, request: ProfileRequest, fence: Fence, *, now: datetime
) -> Profile:
    """Return a profile; nothing is stored, not even its receipt. No scope: an empty one."""
    facts: list[FactHit] = []
    episodes: list[EpisodeHit] = []
    over: dict[str, str] = {}
    doubtful: set[str] = set()
    if scope:
        facts, episodes, newer = _load(scope, request, now)
        over, doubtful = _find_over(scope, facts, newer, as_of=request.as_of)
    earlier: dict[str, list[FactHit]] = defaultdict(list)
    for hit in facts:
        if hit.id in over:
            earlier[over[hit.id]].append(hit)
    active = [hit for hit in facts if hit.id not in over]
    lines = [
        *render_facts(active, doubtful, request.links),
        *(render_episode(hit, request.links) for hit in episodes),
    ]
    wanted = [line for line in lines if line.section in request.sections]
    shown = fit_lines(wanted, request.max_tokens - fence.tokens)
    parts = fence.wrap(write_lines(shown))
    text = join(parts)
    receipt = Retrieval(
        tenant=tenant,
        conversation=scope.conversation if scope else None,
        kind=Retrieval.Kind.PROFILE,
        query=QUERY,
        tokens=count_tokens(text),
        parts=receipts.keep_parts(parts, is_shared=True),
        signature=receipts.sign(text),
    )
    return Profile(shown, earlier, len(wanted) - len(shown), text, receipt)


def _load(
    scope: Scope, request: ProfileRequest, now: datetime
) -> tuple[list[FactHit], list[EpisodeHit], list[tuple[str, str, str]]]:
    """Return facts, newest first, the last episodes, and suggestions as (old, new, kind)."""
    is_now = request.as_of is None
    owners = scope.owners or owners_of_several(tenant=scope.tenant, conversation_ids=scope.homes)
    parameters: dict[str, Any] = {
        "tenant": scope.tenant.id,
        "homes": to_array(map(str, scope.homes)),
        "owners": to_array(map(str, owners)),
        "a_category": A_CATEGORY,
        "last_episodes": LAST_EPISODES,
        "as_of": request.as_of,
        "now": now,
        "said_in": "{}",
        "seqs": "{}",
        "pinned": PINNED if is_now else 0,
        "counter": in_use().name,
        "whole": False,
        "bytes_at_most": 0,
        "retired": False,
        "shared": scope.is_shared,
        "of_user": bool(scope.user_ids),
    }
    fixed = (*LOADED_FIXED, "as_of") if is_now else LOADED_FIXED
    loaded = run(read_profile(), parameters, fixed=fixed, keep=is_now)
    rows = {kind: several or [] for kind, several in loaded}
    hits = {
        kind: [Hit(uuid.UUID(row[0]), kind, 1, 0.0) for row in rows[kind.value]]
        for kind in (MemoryKind.FACT, MemoryKind.EPISODE)
    }
    found = read_candidates(scope, rows, hits[MemoryKind.FACT], hits[MemoryKind.EPISODE])
    facts = sorted(found.facts, key=lambda hit: (moment_of(hit), hit.id), reverse=True)
    episodes = sorted(found.episodes, key=lambda hit: (hit.end_at, hit.id), reverse=True)
    return facts, episodes, rows["newer"]


def _find_over(
    scope: Scope,
    facts: Sequence[FactHit],
    newer: Iterable[tuple[str, str, str]],
    *,
    as_of: datetime | None,
) -> tuple[dict[str, str], set[str]]:
    """Return the facts to leave out of a profile, by id, each with the id of its replacement.

    These are former values, facts that contradict a correction (maybe without replacement), and the
    shorter of two apparent duplicates. Also return the facts that an open suggestion says are over.
    """
    heirs = _find_successions(facts)
    doubtful: set[str] = set()
    sizes = {hit.id: len(hit.fact) for hit in facts}
    for old, new, kind in newer:
        if old in sizes and new in sizes:
            if kind == SuggestionKind.CONTRADICTION:
                doubtful.add(old)
            else:
                heirs |= {new: old} if sizes[old] > sizes[new] else {old: new}
    if scope.has_corrections:
        ids = [hit.found.memory_id for hit in facts]
        corrections = find_corrections(scope.tenant, ids, as_of)
        for fact_id, correction in corrections.items():
            heirs[str(fact_id)] = str(correction.heir_id or "")
    last = {old: _find_last(heirs, old) for old in heirs}
    return {old: heir for old, heir in last.items() if heir != old}, doubtful


def _find_successions(facts: Sequence[FactHit]) -> dict[str, str]:
    """Return for each fact the newest one that gives another value of the same subject.

    Only facts that begin alike are compared: comparing all pairs would take too long.
    """
    alike: dict[tuple[str, ...], list[FactHit]] = defaultdict(list)
    for hit in facts:
        alike[tuple(hit.fact.casefold().split()[:LEAD])].append(hit)
    heirs: dict[str, str] = {}
    for several in alike.values():
        succession, first = find_succession(several), ""
        for hit in succession.facts:
            if hit.id in succession.earlier:
                heirs[hit.id] = first
            else:
                first = hit.id
    return heirs


def _find_last(heirs: Mapping[str, str], fact_id: str) -> str:
    """Return the fact that replaced another in the end; in a circle, the fact itself."""
    passed = {fact_id}
    while (fact_id := heirs[fact_id]) in heirs and fact_id not in passed:
        passed.add(fact_id)
    return fact_id
