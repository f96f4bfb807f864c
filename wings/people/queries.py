"""Finds people, and all data of a person. Every query names its tenant."""

import uuid
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce

from episodic.models import Conversation, Episode, Message, Role
from episodic.naming import list_speakers
from memoryproject.tenancy.models import Tenant
from retrieval.models import Retrieval, RetrievalHit
from semantic.beliefs import IsOneOf
from semantic.models import Evidence, Fact
from wings.notes.models import Note
from wings.people.models import Alias, Merge, Person


class Identity(NamedTuple):
    """The names and ids of a person, including those of merged people."""

    person_ids: tuple[uuid.UUID, ...]
    """Ids of the people, the person's own first."""
    user_ids: tuple[str, ...]
    speakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """A person, or a name or id that belongs to no person yet."""

    tenant: Tenant
    name: str
    kind: str = ""
    """Kind of the name, such as an alias; empty for a person."""
    person_id: uuid.UUID | None = None

    @property
    def identity(self) -> Identity:
        """Names and ids of somebody without a row."""
        is_user = self.kind == Alias.Kind.USER
        return Identity((), (self.name,) if is_user else (), () if is_user else (self.name,))


def is_named(words: str) -> Q:
    """Return the condition that a name or id of a person contains the words."""
    named = Alias.across_tenants.filter(value__icontains=words).values("person")
    return Q(name__icontains=words) | Q(id__in=named)


def find_known(tenant_id: uuid.UUID | None, words: str = "", *, at_most: int) -> list[Known]:
    """Return whom a tenant knows by a name or id with the words; people first.

    Then user ids and speakers of the newest conversations that belong to no person yet.
    """
    of_tenant = Q(tenant=tenant_id) if tenant_id else Q()
    people = Person.across_tenants.filter(of_tenant, is_named(words))
    found = [
        Known(row.tenant, row.name, person_id=row.id)
        for row in people.select_related("tenant").order_by("name", "id")[:at_most]
    ]
    aliases = Alias.across_tenants.filter(kind=Alias.Kind.USER, value=OuterRef("user_id"))
    is_taken = Exists(aliases.filter(tenant=OuterRef("tenant")))
    owned = Conversation.across_tenants.filter(of_tenant, ~is_taken, user_id__icontains=words)
    ids = owned.exclude(user_id="").values_list("tenant", "user_id").distinct()
    users = ids.order_by("user_id", "tenant")[:at_most]
    speakers = list_speakers(tenant_id)
    unnamed = [
        *((Alias.Kind.USER, *row) for row in users),
        *((Alias.Kind.SPEAKER, *row) for row in speakers if words.casefold() in row[1].casefold()),
    ]
    values = Alias.across_tenants.filter(value__in={value for _, _, value in unnamed})
    taken = set(values.values_list("kind", "tenant", "value"))
    tenants = Tenant.objects.in_bulk({of for _, of, _ in unnamed})
    found += [Known(tenants[key[1]], key[2], key[0]) for key in unnamed if key not in taken]
    return found[:at_most]


def find_identity(person: Person) -> Identity:
    """Return a person's identity, with all merged people: a query per generation."""
    merges = Merge.objects.of(person.tenant).filter(undone_at=None)
    person_ids, newest = [person.id], [person.id]
    while newest:
        found = merges.filter(into__in=newest).order_by("person_id")
        newest = list(found.values_list("person_id", flat=True))
        person_ids += newest
    aliases = Alias.objects.of(person.tenant).filter(person__in=person_ids).order_by("value")
    return Identity(
        person_ids=tuple(person_ids),
        user_ids=tuple(alias.value for alias in aliases if alias.kind == Alias.Kind.USER),
        speakers=tuple(alias.value for alias in aliases if alias.kind == Alias.Kind.SPEAKER),
    )


def find_merge(person: Person) -> Merge | None:
    """Return the merge of a person into another; None: there is no active one."""
    rows = Merge.objects.of(person.tenant).filter(person=person, undone_at=None)
    return rows.select_related("into").first()


def conversations_of(tenant: Tenant, identity: Identity) -> QuerySet[Conversation]:
    """Return a person's conversations: those of their user ids, and those they have alone.

    Alone means: they speak, nobody else speaks as `user`, named or not, and the conversation has no
    user, or one of theirs. Messages of assistants, tools and system prompts in it are to them.
    """
    rows = Conversation.objects.of(tenant)
    mine = Q(user_id__in=identity.user_ids) & ~Q(user_id="")  # as the index has it
    said = Message.objects.of(tenant).filter(conversation=OuterRef("pk"))
    others = said.filter(role=Role.USER).exclude(is_said_by(identity))
    # Not EXISTS, which after OR would run for each conversation of the tenant.
    speaks = Q(id__in=said_by(tenant, identity).values("conversation"))
    alone = Q(user_id__in=["", *identity.user_ids]) & speaks
    return rows.filter(mine | (alone & ~Exists(others)))


def conversations_shared(tenant: Tenant, identity: Identity) -> QuerySet[Conversation]:
    """Return the conversations in which a person speaks that are not theirs alone."""
    said = Message.objects.of(tenant).filter(is_said_by(identity), conversation=OuterRef("pk"))
    mine = conversations_of(tenant, identity).values("id")
    return Conversation.objects.of(tenant).filter(Exists(said)).exclude(id__in=mine)


def said_by(tenant: Tenant, identity: Identity) -> QuerySet[Message]:
    """Return messages under a person's names or user ids, in any conversation."""
    return Message.objects.of(tenant).filter(is_said_by(identity))


def is_said_by(identity: Identity) -> Q:
    """Return the condition for messages under a person's names or user ids."""
    is_named = Q(user_id__in=identity.user_ids) & ~Q(user_id="")  # as the index has it
    return Q(name__in=identity.speakers) | is_named


def replies_to(tenant: Tenant, identity: Identity) -> QuerySet[Message]:
    """Return messages of assistants and tools to a person in shared conversations.

    Such a message answers the last speaker before it; at the beginning of a conversation, the first
    speaker. Speakers are the authors of messages with the role `user`, and the person. Uses index:
    the unique one of messages by conversation and seq.
    """
    is_theirs = is_said_by(identity)
    turns = Message.objects.of(tenant).filter(
        Q(role=Role.USER) | is_theirs, conversation=OuterRef("conversation")
    )
    turns = turns.annotate(mine=ExpressionWrapper(is_theirs, output_field=BooleanField()))
    before = turns.filter(seq__lt=OuterRef("seq")).order_by("-seq").values("mine")[:1]
    after = turns.filter(seq__gt=OuterRef("seq")).order_by("seq").values("mine")[:1]
    shared = conversations_shared(tenant, identity).values("id")
    rows = Message.objects.of(tenant).filter(
        conversation__in=shared, role__in=[Role.ASSISTANT, Role.TOOL]
    )
    rows = rows.exclude(is_theirs).annotate(to_them=Coalesce(Subquery(before), Subquery(after)))
    return rows.filter(to_them=True)


@dataclass(frozen=True, slots=True)
class Presence:
    """How much of a conversation is by or to a person."""

    conversation: Conversation
    is_theirs: bool
    """Whether it is of one of their user ids, or nobody else speaks in it."""
    theirs: int
    """Number of messages under their names."""
    replies: int
    """Number of messages of assistants and tools to them; 0 if the conversation is theirs."""
    others: int
    """Number of all other messages."""
    speakers: tuple[str, ...]
    """Others who speak as `user`, in order; the empty name is a speaker without one."""


def list_presences(tenant: Tenant, identity: Identity, *, at_most: int) -> list[Presence]:
    """Return a person's conversations, then the shared ones, in order of id."""
    mine = conversations_of(tenant, identity).order_by("id")[:at_most]
    presences = [_find_presence(row, identity, is_theirs=True) for row in mine]
    shared = conversations_shared(tenant, identity).order_by("id")[: at_most - len(presences)]
    return presences + [_find_presence(row, identity, is_theirs=False) for row in shared]


def _find_presence(conversation: Conversation, identity: Identity, *, is_theirs: bool) -> Presence:
    messages, named = Message.objects.within(conversation), is_said_by(identity)
    sums = messages.aggregate(total=Count("pk"), theirs=Count("pk", filter=named))
    replies = replies_to(conversation.tenant, identity).filter(conversation=conversation)
    answers = 0 if is_theirs else replies.count()
    others = messages.filter(role=Role.USER).exclude(named).order_by("name")
    return Presence(
        conversation=conversation,
        is_theirs=is_theirs,
        theirs=sums["theirs"],
        replies=answers,
        others=sums["total"] - sums["theirs"] - answers,
        speakers=tuple(others.values_list("name", flat=True).distinct()),
    )


def list_belongings(tenant: Tenant, identity: Identity) -> dict[str, QuerySet[Any]]:
    """Return a person's data by kind, unordered: their conversations with all in it.

    From shared conversations: what they said under their names, its episodes, and the facts that it
    supports. `answers` are receipts asked in their conversations, or that served one of these facts
    or episodes.
    """
    homes = Q(conversation__in=conversations_of(tenant, identity))
    said = said_by(tenant, identity)
    is_evidence = IsOneOf("seq", OuterRef("message_seqs"))
    behind = Exists(said.filter(is_evidence, episode=OuterRef("episode")))
    supported = Evidence.objects.of(tenant).filter(behind, withdrawn_by=None).values("fact")
    facts = Fact.objects.of(tenant).filter(homes | Q(id__in=supported))
    episodes = Episode.objects.of(tenant).filter(
        homes | Q(id__in=said.exclude(episode=None).values("episode")), withheld_by=None
    )
    hits = RetrievalHit.objects.of(tenant)
    serving = hits.filter(
        Q(memory_id__in=facts.values("id")) | Q(memory_id__in=episodes.values("id"))
    )
    return {
        "conversations": conversations_of(tenant, identity),
        "messages": Message.objects.of(tenant).filter(homes | is_said_by(identity)),
        "episodes": episodes,
        "facts": facts.exclude(invalidated_because=Fact.Because.WAITING),
        "notes": Note.objects.of(tenant).filter(Note.of_users(identity.user_ids), deleted_at=None),
        "answers": Retrieval.objects.of(tenant).filter(
            homes | Q(id__in=serving.values("retrieval"))
        ),
    }
