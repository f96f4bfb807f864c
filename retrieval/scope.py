"""The scope of a question: one conversation, all of a user's, or a tenant."""

import uuid
from dataclasses import dataclass

from episodic.models import Conversation
from indexing.languages import SIMPLE
from indexing.owners import scope_of
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import Tenant
from retrieval.request import CONVERSATION, USER
from retrieval.statements import read_file, run


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of memory that every step of an answer searches."""

    tenant: Tenant
    conversation: Conversation | None = None
    """The one conversation to search; None: several."""
    homes: tuple[uuid.UUID, ...] = ()
    """The conversations to search; for a whole tenant, the current one, for pinned facts."""
    owners: tuple[uuid.UUID, ...] = ()
    """Owners of the user's search entries, see `indexing.owners`."""
    user_ids: tuple[str, ...] = ()
    """Ids under which a user is known; empty: no user's conversations are searched."""
    languages: tuple[str, ...] = (SIMPLE,)
    """Languages of the conversations."""
    left_out: uuid.UUID | None = None
    """A conversation that is not searched."""
    agent_id: str | None = None
    """Only conversations of this agent, if several are searched."""
    has_corrections: bool = True
    """Whether anything in it was ever corrected."""
    is_moving: bool = False
    """Whether some of a user's entries are not in the user's scope yet."""

    @property
    def is_shared(self) -> bool:
        """Whether several conversations are searched."""
        return self.conversation is None

    @property
    def is_everything(self) -> bool:
        """Whether the whole tenant is searched."""
        return self.is_shared and not self.user_ids

    @property
    def key(self) -> uuid.UUID | None:
        """The conversation, or the scope of a user known under a single id; else None."""
        if self.conversation:
            return self.conversation.id
        return self.owners[0] if len(self.owners) == 1 else None


def in_one(conversation: Conversation) -> Scope:
    """Return the scope of one conversation."""
    return Scope(
        tenant=conversation.tenant,
        conversation=conversation,
        homes=(conversation.id,),
        languages=(conversation.language,),
        has_corrections=conversation.has_corrections,
    )


def find_scope(
    *,
    tenant: Tenant,
    conversation: Conversation | None,
    scope: str,
    user_id: str | None = None,
    agent_id: str | None = None,
    exclude_current: bool = False,
) -> Scope | None:
    """Return the scope of a call by its options; None if there is nothing to search.

    `conversation` is the current one, None if it does not exist or none was named. Merges of people
    apply at once. A key that is bound to users sees no others.
    """
    user_id = user_id or (conversation.user_id if conversation else "")
    if scope == CONVERSATION or (scope == USER and not user_id):
        return in_one(conversation) if conversation else None
    left_out = conversation.id if conversation and exclude_current else None
    if scope == USER:
        return _find_user_scope(tenant, user_id, agent_id, left_out)
    return Scope(
        tenant=tenant,
        homes=(conversation.id,) if conversation and not left_out else (),
        left_out=left_out,
        agent_id=agent_id,
    )


def find_user_ids(tenant: Tenant, user_id: str) -> tuple[str, ...]:
    """Return the ids under which a user is known, without those that the caller may not see."""
    scope = _find_user_scope(tenant, user_id, None, None)
    return scope.user_ids if scope else ()


def _find_user_scope(
    tenant: Tenant, user_id: str, agent_id: str | None, left_out: uuid.UUID | None
) -> Scope | None:
    users = walls.get_users()
    params = {
        "tenant": tenant.id,
        "user_id": user_id,
        "users": list(users) if users is not None else None,
        "agent_id": agent_id,
        "left_out": left_out,
    }
    user_ids, homes, unmoved, languages, has_corrections = run(read_file("scope.sql"), params)[0]
    if not user_ids:
        return None
    scopes = [scope for user_id in user_ids if (scope := scope_of(tenant.id, user_id))]
    return Scope(
        tenant=tenant,
        homes=tuple(homes or ()),
        owners=(*scopes, *(unmoved or ())),
        user_ids=tuple(user_ids),
        languages=tuple(languages or (SIMPLE,)),
        left_out=left_out,
        agent_id=agent_id,
        has_corrections=bool(has_corrections),
        is_moving=bool(unmoved),
    )
