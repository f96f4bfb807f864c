"""Changes the embedding model: old and new answer side by side, each where its vectors are
complete.

Progress is recorded only in the vectors themselves: a conversation has moved when each of the old
model's vectors has one of the new model's beside it. So a crash leaves nothing inconsistent.
"""

import time
import uuid
from collections import OrderedDict
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from indexing import approximate
from indexing.models import SearchVector, UnitKind, VectorIndex
from indexing.owners import within
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, State
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Embedder
from memoryproject.database.clock import execute
from memoryproject.tenancy.models import Tenant

EVERYTHING = "everything"
"""Input of a job that makes all missing vectors of the tenant, in every conversation."""
COMPLETE = "vectors_by"
"""Key of a tenant's settings: the model whose vectors are complete for the tenant."""
STATES = "states_by"
"""Key of a tenant's settings: the model whose token states are complete."""
PAUSED = "vectors_paused"
"""Key of a tenant's settings: somebody has paused the making of its vectors."""
LOOK_EVERY_S = 10.0
"""Seconds between two checks of what has not moved yet; until then the old model answers."""
SCOPES_AT_MOST = 10_000
DELETED_AT_ONCE = 1_000
UNFLAG = "UPDATE jobs_job SET input = input - %s WHERE tenant_id = %s AND id = ANY(%s)"

_looked: OrderedDict[tuple[Embedder, uuid.UUID, uuid.UUID | None], float] = OrderedDict()
"""Time until which a scope need not be checked again; infinite once it has moved."""


def choose_embedder(*, tenant: Tenant, conversation_id: uuid.UUID | None = None) -> Embedder:
    """Return the embedder whose vectors are complete in a conversation, for embedding and search.

    Without a conversation, complete in the tenant.
    """
    new, *before = embeddings.get_embedders()
    if not before:
        return new
    scope = (new, tenant.id, conversation_id)
    if time.monotonic() > _looked.get(scope, 0.0):
        moved = _has_moved(tenant, conversation_id, old=before[0].name, new=new.name)
        _looked[scope] = float("inf") if moved else time.monotonic() + LOOK_EVERY_S
        if len(_looked) > SCOPES_AT_MOST:
            _looked.popitem(last=False)
    return new if _looked.get(scope) == float("inf") else before[0]


def _has_moved(tenant: Tenant, conversation_id: uuid.UUID | None, *, old: str, new: str) -> bool:
    """Return whether everything with a vector of the old model has one of the new model.

    Uses index: indexing_vector_time_of_owner, indexing_vector_one_a_model. The latest ones are
    moved first, so the first row checked is usually not moved yet.
    """
    if conversation_id is None and find_move(tenant).exists():
        return False
    rows: QuerySet[Any] = SearchVector.objects.of(tenant)
    made = rows.filter(unit=OuterRef("unit"), model=new)
    if conversation_id:
        rows = within(rows, tenant=tenant, conversation_id=conversation_id)
    return not rows.filter(~Exists(made), model=old).exists()


def find_gap(tenant: Tenant) -> str:
    """Return an answer's note if memories from before the model change are missing in it.

    A chore records which model has all of a tenant's vectors, so this costs no statement.
    """
    names = [embedder.name for embedder in embeddings.get_embedders()]
    return "old_vectors" if tenant.settings.get(COMPLETE, names[0]) not in names else ""


def notice_changes(*, at_most: int) -> None:
    """Record which tenants have all vectors of the model, and start making missing ones.

    Only a self-hosted model starts making them: a provider's costs money.
    """
    new, *before = embeddings.get_embedders()
    if before:
        return  # an operator is changing the model
    others = Tenant.objects.exclude(settings__contains={COMPLETE: new.name})
    for tenant in others.order_by("id")[:at_most]:
        # The latest are made first, so if the oldest has one, all have.
        oldest = SearchVector.objects.of(tenant).order_by("id").first()
        made = SearchVector.objects.of(tenant).filter(model=new.name)
        if oldest is None or made.filter(unit=oldest.unit_id).exists():
            tenant.change_setting(COMPLETE, new.name)
            continue
        if COMPLETE not in tenant.settings:
            tenant.change_setting(COMPLETE, oldest.model)
        is_paused = tenant.settings.get(PAUSED, False)
        if is_own_model() and not is_paused and not find_move(tenant).exists():
            start_move(tenant)
    if embeddings.has_states(new.name):
        _notice_states(new.name, at_most=at_most)


def _notice_states(model: str, *, at_most: int) -> None:
    """As `notice_changes`, for token states, which vectors before November 27, 2026 lack."""
    whole = Tenant.objects.filter(settings__contains={COMPLETE: model})
    for tenant in whole.exclude(settings__contains={STATES: model}).order_by("id")[:at_most]:
        if tenant.settings.get(PAUSED, False) or find_move(tenant).exists():
            continue
        rows = SearchVector.objects.of(tenant).filter(model=model, kind=UnitKind.MESSAGE)
        if rows.filter(states=None).exists():
            start_move(tenant)
        else:
            tenant.change_setting(STATES, model)


def is_own_model() -> bool:
    """Return whether vectors cost nothing: made in this process, or in a private network."""
    url: str = settings.EMBEDDING_BASE_URL
    return settings.EMBEDDINGS != "openai" or url.startswith("http://")


def explain_changes() -> str:
    """Return a text for operators if the model has changed; empty if not."""
    new = embeddings.get_embedders()[0].name
    tenants = Tenant.objects.filter(settings__has_key=COMPLETE)
    changed = sum(bool(find_gap(tenant)) for tenant in tenants)
    if not changed:
        return ""
    rest = "it begins by itself" if is_own_model() else "manage.py make_vectors starts it"
    return (
        f"The embedding model is {new} now. Older memories of {changed} tenants are found by"
        f" keyword until their vectors are made: {rest}."
    )


def find_move(tenant: Tenant) -> QuerySet[Job]:
    """Return the open job that makes all vectors of a tenant, if there is one."""
    return Job.objects.of(tenant).filter(
        kind=Kind.EMBED,
        scope=tenant.id,
        state__in=[State.READY, State.RUNNING],
        input__has_key=EVERYTHING,
    )


def start_move(tenant: Tenant) -> None:
    """Queue the making of all vectors that one of the models lacks; resume it if it was paused."""
    if PAUSED in tenant.settings:
        tenant.change_setting(PAUSED)
    enqueue(tenant=tenant, kind=Kind.EMBED, scope=tenant.id, input={EVERYTHING: True})


def pause_move(tenant: Tenant) -> None:
    """Stop the job after its current batch; vectors of new memories are still made."""
    tenant.change_setting(PAUSED, True)
    ids = list(find_move(tenant).values_list("id", flat=True))
    execute(UNFLAG, [EVERYTHING, tenant.id, ids])


def delete_vectors(tenant: Tenant, *, model: str) -> int:
    """Delete vectors and approximate indexes of a model that is no longer used; return how many."""
    for index in VectorIndex.objects.of(tenant).filter(model=model):
        approximate.drop(index)
    rows = SearchVector.objects.of(tenant).filter(model=model)
    count = 0
    while ids := list(rows.order_by("id").values_list("id", flat=True)[:DELETED_AT_ONCE]):
        count += rows.filter(id__in=ids).delete()[0]
    return count
