"""What is held true, why, and who changed it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from episodic.admin import ConversationAdmin
from episodic.models import Conversation, Message
from episodic.revealing import Reader
from indexing.models import UnitKind
from indexing.word_search import WordSearchAdmin
from memoryproject import admin_values as values
from memoryproject.admin_base import ROWS_AT_MOST, Listing, ReadOnlyAdmin, Table, Tables
from memoryproject.admin_filters import moment_filter, words_filter
from semantic.models import Change, Changeset, Evidence, Fact

CHAIN_AT_MOST = 20
NEVER_TRUE = Q(invalidated_because__in=[Fact.Because.WRONG, Fact.Because.ERASED])


ConversationAdmin.listings += (
    Listing("Facts", Fact, "conversation"),
    Listing("Changesets", Changeset, "conversation"),
)


def state_of(fact: Fact) -> str:
    """Return `active`, or why the fact is held no more."""
    return fact.invalidated_because or "active"


def seqs_of(evidence: Evidence) -> str:
    """Return the messages that say it, by their seq."""
    return ", ".join(map(str, evidence.message_seqs)) or "the whole episode"


def evidence_of_fact(request: HttpRequest, fact: Fact) -> Table:
    """Return where a fact comes from, down to the messages."""
    rows = Evidence.across_tenants.filter(fact=fact).select_related(
        "episode", "changeset", "withdrawn_by"
    )
    support = list(rows.order_by("id")[:ROWS_AT_MOST])
    said = messages_by_seq(
        fact.conversation,
        {seq for row in support for seq in row.message_seqs},
        reader=Reader(request.user),
    )
    return Table(
        "Evidence",
        ["episode", "messages", "brought in by", "taken back by"],
        [
            [
                values.link(row.episode),
                values.lines(said[seq] for seq in row.message_seqs if seq in said) or seqs_of(row),
                values.link(row.changeset, row.changeset.kind),
                values.link(row.withdrawn_by),
            ]
            for row in support
        ],
    )


def messages_by_seq(
    conversation: Conversation, seqs: Iterable[int], *, reader: Reader
) -> dict[int, str]:
    """Return messages of a conversation as links, by seq."""
    said = Message.across_tenants.filter(conversation=conversation, seq__in=sorted(seqs))
    return {
        message.seq: values.link(
            message,
            f"{message.seq} {message.name or message.role}: "
            f"{reader.show(message.content, conversation.id)}",
        )
        for message in said
    }


def versions_of_fact(request: HttpRequest, fact: Fact) -> Table:
    """Return what the fact replaced, and what replaced it, one after the other."""
    replaced = Fact.across_tenants.filter(superseded_by=fact).order_by("id")[:ROWS_AT_MOST]
    versions = [*((row, "replaced by this") for row in replaced), (fact, "this")]
    newer = fact.superseded_by
    while newer is not None and len(versions) < ROWS_AT_MOST + CHAIN_AT_MOST:
        versions.append((newer, "replaces it"))
        newer = newer.superseded_by
    return Table(
        "Versions",
        ["", "fact", "state", "true from", "until", "believed from", "until"],
        [
            [
                relation,
                values.link(row) if row != fact else row.fact,
                state_of(row),
                *map(values.moment, (row.valid_at, row.valid_until)),
                *map(values.moment, (row.created_at, row.invalid_at)),
            ]
            for row, relation in versions
        ],
    )


def changes_of_fact(request: HttpRequest, fact: Fact) -> Table:
    """Return every step that touched a fact, oldest first."""
    touching = Change.across_tenants.filter(Q(memory_id=fact.id) | Q(other_memory_id=fact.id))
    return changes_table(touching.order_by("id"), "Changes")


def changes_of_changeset(request: HttpRequest, changeset: Changeset) -> Table:
    """Return the steps of a changeset in their order."""
    return changes_table(
        Change.across_tenants.filter(changeset=changeset).order_by("position", "id"), "Changes"
    )


def changes_table(steps: QuerySet[Change], title: str) -> Table:
    """Return steps with the facts that they name, in three queries."""
    changes = list(steps.select_related("changeset")[:ROWS_AT_MOST])
    ids = {change.memory_id for change in changes} | {change.other_memory_id for change in changes}
    facts = Fact.across_tenants.in_bulk([fact_id for fact_id in ids if fact_id])
    return Table(
        title,
        ["step", "action", "what changed", "replaced or came from", "note", "actor", "at"],
        [
            [
                values.link(change, change.position),
                change.get_action_display(),
                link_to_fact(change.memory_id, facts),
                link_to_fact(change.other_memory_id, facts),
                change.note or values.NOTHING,
                values.link(change.changeset, change.changeset.actor),
                values.moment(change.changeset.started_at),
            ]
            for change in changes
        ],
    )


def link_to_fact(fact_id: Any, facts: dict[Any, Fact]) -> str:
    """Return a link to a fact by its sentence, or the id of what is no fact any more."""
    if fact_id is None:
        return values.NOTHING
    return values.link(facts[fact_id]) if fact_id in facts else values.short(fact_id)


def fact_states() -> dict[str, Q]:
    """Return what tells facts of each state apart."""
    closed = {because.value: Q(invalidated_because=because) for because in Fact.Because}
    return {"active": Q(invalid_at=None), **closed}


@admin.register(Fact)
class FactAdmin(WordSearchAdmin):
    found_as = UnitKind.FACT
    list_display = (
        "fact", "category", "state", "valid_at", "valid_until", "created_at", "conversation",
        "tenant",
    )  # fmt: skip
    list_filter = (
        words_filter("state", fact_states),
        moment_filter("true_at", "true at", since="valid_at", until="valid_until", but=NEVER_TRUE),
        moment_filter("believed_at", "believed at", since="created_at", until="invalid_at"),
        "category", "created_at", "tenant",
    )  # fmt: skip
    search_fields = ("search_text",)
    id_search = ("id", "conversation", "conversation__external_id")
    tables: Tables = (evidence_of_fact, versions_of_fact, changes_of_fact)

    @values.coloured_word("state")
    def state(self, fact: Fact) -> str:
        return state_of(fact)


@admin.register(Evidence)
class EvidenceAdmin(ReadOnlyAdmin):
    search_help_text = "A whole id"
    list_display = ("created_at", "fact", "episode", "message_seqs", "changeset", "tenant")
    list_filter = ("created_at", "tenant")
    id_search = ("id", "fact", "episode", "changeset")


@admin.register(Changeset)
class ChangesetAdmin(ReadOnlyAdmin):
    list_display = (
        "started_at", "kind", "actor", "reason", "engine", "model", "degraded",
        "unknown_aliases", "job_id", "conversation", "tenant",
    )  # fmt: skip
    list_filter = ("kind", "degraded", "tenant")
    date_hierarchy = "started_at"
    search_fields = ("actor", "reason", "model")
    id_search = ("id", "job_id", "conversation", "conversation__external_id")
    tables = (changes_of_changeset,)
    points_at = {"job_id": "jobs_job"}


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    list_display = (
        "action", "position", "memory_id", "other_memory_id", "note", "changeset", "tenant",
    )  # fmt: skip
    list_filter = ("action", "tenant")
    search_fields = ("note",)
    id_search = ("id", "memory_id", "other_memory_id", "changeset")
    points_at = {"memory_id": "semantic_fact", "other_memory_id": "semantic_fact"}
