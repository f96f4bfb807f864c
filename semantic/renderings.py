"""Rows of this app as the API shows them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from episodic.models import Message
from memoryproject.fields import say_moment
from semantic import states
from semantic.models import Change, Changeset, Evidence, Fact


def render_fact(fact: Fact, external_id: uuid.UUID, evidence: Sequence[Evidence]) -> dict[str, Any]:
    """Return the fields that every answer has of a fact."""
    return {
        "id": str(fact.id),
        "conversation_id": str(external_id),
        "category": fact.category,
        "fact": fact.fact,
        "keywords": fact.keywords,
        "source_episodic_ids": [str(row.episode_id) for row in evidence],
        "valid_at": say_moment(fact.valid_at),
        "invalid_at": _moment(fact.invalid_at),
    }


def render_listed_fact(fact: Fact, evidence: Sequence[Evidence]) -> dict[str, Any]:
    """Return the fields that the list has of a fact; `evidence` is what counts."""
    return {
        **render_fact(fact, fact.conversation.external_id, evidence),
        "created_at": say_moment(fact.created_at),
        "valid_until": _moment(fact.valid_until),
        "invalidated_because": fact.invalidated_because or None,
        "superseded_by": _id(fact.superseded_by_id),
    }


def render_change(change: Change) -> dict[str, Any]:
    """Return one step of a changeset."""
    return {
        "position": change.position,
        "action": change.action,
        "memory_id": _id(change.memory_id),
        "other_memory_id": _id(change.other_memory_id),
        "note": change.note or None,
    }


def render_state(stored: states.Json) -> dict[str, Any] | None:
    """Return a state that a change stores; null: the fact was not there."""
    state = states.from_json(stored)
    if state is None:
        return None
    return {
        "because": state.because or None,
        "valid_until": _moment(state.valid_until),
        "superseded_by": _id(state.superseded_by),
    }


def render_step(change: Change) -> dict[str, Any]:
    """Return one step of a changeset, with the facts that it opened or closed."""
    return {
        **render_change(change),
        "states": [
            {"fact_id": fact_id, "before": render_state(before), "after": render_state(after)}
            for fact_id, (before, after) in sorted(change.states.items())
        ],
    }


def render_history(change: Change, fact: Fact) -> dict[str, Any]:
    """Return one step that touched a fact: who, when and why. Its changeset is loaded."""
    before, after = change.states.get(str(fact.id), (None, None))
    return {
        **render_change(change),
        "changeset_id": str(change.changeset_id),
        "kind": change.changeset.kind,
        "actor": change.changeset.actor,
        "reason": change.changeset.reason or None,
        "at": say_moment(change.changeset.started_at),
        "before": render_state(before),
        "after": render_state(after),
    }


def render_evidence(row: Evidence, said: Mapping[int, Message]) -> dict[str, Any]:
    """Return what supports a fact, or once did, down to who said it; its changeset is loaded.

    `said` has the messages of the conversation by seq; what was erased is missing.
    """
    return {
        "episode_id": str(row.episode_id),
        "message_seqs": row.message_seqs,
        "messages": [_render_witness(said[seq]) for seq in row.message_seqs if seq in said],
        "changeset_id": str(row.changeset_id),
        "engine": row.changeset.engine or None,
        "model": row.changeset.model or None,
        "prompt_version": row.changeset.prompt_version or None,
        "withdrawn_by": _id(row.withdrawn_by_id),
    }


def _render_witness(message: Message) -> dict[str, Any]:
    return {
        "id": str(message.id),
        "seq": message.seq,
        "role": message.role,
        "name": message.name or None,
        "posted_by": _id(message.posted_by_id),
        "withheld_by": _id(message.withheld_by_id),
    }


def render_version(fact: Fact) -> dict[str, Any]:
    """Return a fact in a chain of versions."""
    return {
        "id": str(fact.id),
        "fact": fact.fact,
        "valid_at": say_moment(fact.valid_at),
        "valid_until": _moment(fact.valid_until),
        "created_at": say_moment(fact.created_at),
        "invalid_at": _moment(fact.invalid_at),
        "invalidated_because": fact.invalidated_because or None,
        "superseded_by": _id(fact.superseded_by_id),
    }


def render_supported(row: Evidence) -> dict[str, Any]:
    """Return a fact that an episode supports; it is loaded."""
    return {
        "id": str(row.fact_id),
        "fact": row.fact.fact,
        "category": row.fact.category,
        "invalid_at": _moment(row.fact.invalid_at),
        "message_seqs": row.message_seqs,
        "withdrawn_by": _id(row.withdrawn_by_id),
    }


def render_changeset(changeset: Changeset) -> dict[str, Any]:
    """Return a changeset without its steps; its conversation is loaded."""
    home = changeset.conversation
    return {
        "id": str(changeset.id),
        "conversation_id": _id(home.external_id if home else None),
        "kind": changeset.kind,
        "actor": changeset.actor,
        "reason": changeset.reason or None,
        "engine": changeset.engine or None,
        "model": changeset.model or None,
        "prompt_version": changeset.prompt_version or None,
        "degraded": changeset.degraded,
        "unknown_aliases": changeset.unknown_aliases,
        "job_id": _id(changeset.job_id),
        "started_at": say_moment(changeset.started_at),
        "reverts": _id(changeset.reverts_id),
    }


def _moment(at: datetime | None) -> str | None:
    return say_moment(at) if at else None


def _id(given: uuid.UUID | None) -> str | None:
    return str(given) if given else None
