"""Reading facts and episodes, down to what they come from."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Q
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries as episodic_queries
from episodic.api import place_message, render_listed_episode
from episodic.models import Episode
from memoryproject.errors import NotFound
from memoryproject.pages import page_schema, take_page
from memoryproject.tenancy.models import Scope, Tenant
from memoryproject.views import KeyedView
from semantic import histories, queries, renderings
from semantic.forms import DetailedEpisode, DetailedFact, FactQuery, ListedFact
from semantic.models import Evidence, Fact


class ReadingView(KeyedView):
    """A view of facts. What waits for a curator is shown to keys that curate alone."""

    scope = Scope.READ

    def may_curate(self) -> bool:
        """Return whether the caller may decide on what waits."""
        return Scope.CURATE in self.key().scopes


class Facts(ReadingView):
    """Lists facts, newest first."""

    @extend_schema(
        operation_id="list_facts",
        parameters=[FactQuery],
        responses=page_schema(ListedFact, "FactPage"),
    )
    def get(self, request: Request) -> Response:
        query = self.read(FactQuery, request.query_params.dict())
        rows = Fact.objects.of(self.tenant()).select_related("conversation")
        if "conversation_id" in query:
            rows = rows.filter(conversation__external_id=query["conversation_id"])
        if "category" in query:
            rows = rows.filter(category=query["category"])
        waits = Q(invalidated_because=Fact.Because.WAITING)
        if query["state"] == "waiting":
            if not self.may_curate():
                raise PermissionDenied("What waits is listed to keys with the scope curate.")
            rows = rows.filter(waits)
        else:
            rows = rows.exclude(waits)
        if query["state"] in {"active", "invalid"}:
            rows = rows.filter(invalid_at__isnull=query["state"] == "active")
        return Response(take_page(rows, query=query, render=self._render))

    def _render(self, page: list[Fact]) -> list[dict[str, Any]]:
        evidence = queries.evidence_of(tenant=self.tenant(), fact_ids=[fact.id for fact in page])
        return [renderings.render_listed_fact(fact, evidence[fact.id]) for fact in page]


class OneFact(ReadingView):
    """A fact with where it comes from, and what has become of it."""

    @extend_schema(
        operation_id="get_fact",
        responses=DetailedFact,
        description="A fact, held or not, with its evidence (taken back or not), every change of "
        "it with actor and reason, and the versions before and after it.",
    )
    def get(self, request: Request, fact_id: uuid.UUID) -> Response:
        fact = find_fact(self.tenant(), fact_id)
        if fact.invalidated_because == Fact.Because.WAITING and not self.may_curate():
            raise NotFound("There is no such fact.")
        evidence = histories.evidence_ever_of(fact)
        said = episodic_queries.messages_at(
            tenant=self.tenant(),
            conversation=fact.conversation,
            seqs={seq for row in evidence for seq in row.message_seqs},
        )
        counting = [row for row in evidence if row.withdrawn_by_id is None]
        return Response(
            {
                **renderings.render_listed_fact(fact, counting),
                "version": fact.version,
                "changeset_id": str(fact.changeset_id),
                "evidence": [renderings.render_evidence(row, said) for row in evidence],
                "history": [
                    renderings.render_history(row, fact) for row in histories.changes_of(fact)
                ],
                "versions": [renderings.render_version(row) for row in histories.versions_of(fact)],
            }
        )


class OneEpisode(KeyedView):
    """An episode with the messages in it and the facts that it supports."""

    scope = Scope.READ

    @extend_schema(operation_id="get_episode", responses=DetailedEpisode)
    def get(self, request: Request, episode_id: uuid.UUID) -> Response:
        episodes = Episode.objects.of(self.tenant()).select_related("conversation")
        episode = episodes.filter(id=episode_id).first()
        if episode is None:
            raise NotFound("There is no such episode.")
        said = episodic_queries.messages_of_episodes(tenant=self.tenant(), episode_ids=[episode.id])
        found = Evidence.objects.of(self.tenant()).filter(episode=episode).select_related("fact")
        held = found.exclude(fact__invalidated_because=Fact.Because.WAITING)
        return Response(
            {
                **render_listed_episode(episode),
                "messages": [place_message(message) for message in said[episode.id]],
                "facts": [
                    renderings.render_supported(row) for row in held.order_by("fact_id", "id")
                ],
            }
        )


def find_fact(tenant: Tenant, fact_id: uuid.UUID) -> Fact:
    """Return the tenant's fact of that id, with its conversation.

    Raises:
        NotFound: he has none.
    """
    found = queries.facts_by_id(tenant=tenant, fact_ids=[fact_id]).select_related("conversation")
    fact = found.first()
    if fact is None:
        raise NotFound("There is no such fact.")
    fact.tenant = tenant
    return fact
