"""Lists facts, and shows a fact or an episode with its evidence and history."""

import uuid
from functools import partial
from typing import Any

from django.db.models import Q
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries as episodic_queries
from episodic.api import StoredMessage
from episodic.models import Episode
from episodic.read_api import ListedEpisode
from memoryproject.edge import pages
from memoryproject.edge.errors import NotFound, get_row
from memoryproject.edge.fields import NameField, WordField
from memoryproject.edge.schema import describe
from memoryproject.tenancy.models import Scope, Tenant
from memoryproject.tenancy.views import ReadView
from semantic import beliefs, queries, renderings
from semantic.models import Evidence, Fact


class ReadingView(ReadView):
    """A view of facts. Only keys with the scope `curate` see facts pending review."""

    def may_curate(self) -> bool:
        """Return whether the caller may decide on the review queue."""
        return Scope.CURATE in self.key().scopes


WAITS = Q(invalidated_because=Fact.Because.WAITING)
HIDDEN = Q(invalidated_because__in=Fact.HIDDEN)
STATES = {
    "active": Q(invalid_at=None),
    "invalid": ~HIDDEN & Q(invalid_at__isnull=False),
    "all": ~HIDDEN,
    "waiting": WAITS,
}
"""Facts pending review are listed by that state alone; forgotten ones, among suggestions."""


class FactQuery(pages.PageQuery):
    category = WordField(
        "Only facts of this category.", choices=renderings.CATEGORIES, required=False
    )
    keyword = NameField(
        "Only facts with this keyword; that of a label of your instructions begins with #.",
        required=False,
    )
    state = WordField(
        "Active, retired, or both; `waiting`, with scope `curate`: pending review, so neither.",
        choices=list(STATES),
        default="active",
    )
    known_at = pages.QueryMomentField(
        "Those that the server believed then. Not with `state`.", required=False
    )
    as_of = pages.QueryMomentField(
        "Those that were true then, retired ones too: as is known now, or as was believed at "
        "`known_at`. Not with `state`.",
        required=False,
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "state" in self.initial_data and attrs.keys() & {"known_at", "as_of"}:
            raise serializers.ValidationError({"state": ["This does not go with a moment."]})
        return attrs


class Facts(ReadingView):
    for_users = True

    @pages.describe_page("list_facts", FactQuery, renderings.ListedFact, "FactPage")
    def get(self, request: Request) -> Response:
        """List facts.

        200: A page of facts, newest first.
        """
        query = self.read_query(FactQuery)
        state, keyword = query.pop("state"), query.pop("keyword", None)
        rows = Fact.objects.of(self.tenant()).select_related("conversation")
        if state == "waiting" and not self.may_curate():
            raise PermissionDenied("What waits is listed to keys with the scope curate.")
        if query.keys() & {"known_at", "as_of"}:
            believed = beliefs.facts_believed_at(
                tenant=self.tenant(),
                known_at=query.pop("known_at", timezone.now()),
                as_of=query.pop("as_of", None),
            )
            rows, state = rows.filter(beliefs.IsOneOf("id", believed)), "all"
        if keyword is not None:
            rows = rows.filter(keywords__contains=[keyword])
        render = partial(renderings.render_facts, self.tenant())
        home = query.pop("conversation__external_id", None)
        if home is not None:
            conversation = episodic_queries.find_conversation(self.tenant(), home)
            rows = queries.facts_seen_from(conversation, rows)
            render = partial(render, conversation=conversation)
        return self.take_page(rows.filter(STATES[state]), query, render)


class OneFact(ReadingView):
    for_users = True

    @describe("get_fact", answers=renderings.DetailedFact)
    def get(self, request: Request, fact_id: uuid.UUID) -> Response:
        """Show a fact with its evidence and history.

        A fact, active or not, with its evidence (withdrawn or not), every change of it with actor
        and reason, and the versions before and after it.
        200: The fact, active or not.
        404: Your tenant has no such fact, or it is pending review and the key lacks the scope
            `curate`.
        """
        fact = find_fact(self.tenant(), fact_id)
        if fact.invalidated_because in Fact.HIDDEN and not self.may_curate():
            raise NotFound("There is no such fact.")
        rows = Evidence.objects.of(self.tenant()).filter(fact=fact).select_related("changeset")
        evidence = list(rows.order_by("id"))
        messages = queries.messages_behind(fact, evidence)
        counting = [row for row in evidence if row.withdrawn_by_id is None]
        return Response(
            renderings.render_fact(
                fact,
                counting,
                renderings.DetailedFact,
                evidence=[renderings.evidence_values(row, messages[row.id]) for row in evidence],
                history=[renderings.history_values(row, fact) for row in queries.changes_of(fact)],
                versions=queries.versions_of(fact),
            )
        )


class OneEpisode(ReadView):
    for_users = True

    @describe("get_episode", answers=renderings.DetailedEpisode)
    def get(self, request: Request, episode_id: uuid.UUID) -> Response:
        """Show an episode with its messages and facts.

        200: The episode, where its messages are, and the facts that it supports.
        """
        episodes = Episode.objects.of(self.tenant()).select_related("conversation")
        episode = get_row(episodes, "episode", id=episode_id)
        messages = episodic_queries.messages_of_episodes(self.tenant(), [episode.id])
        evidence = Evidence.objects.of(self.tenant()).filter(episode=episode).select_related("fact")
        approved = evidence.exclude(fact__invalidated_because__in=Fact.HIDDEN)
        facts = renderings.SupportedFact(approved.order_by("fact_id", "id"), many=True)
        return Response(
            {
                **ListedEpisode(episode).data,
                "messages": StoredMessage(messages[episode.id], many=True).data,
                "facts": facts.data,
            }
        )


def find_fact(tenant: Tenant, fact_id: uuid.UUID) -> Fact:
    """Return the tenant's fact of that id with its conversation, or raise NotFound."""
    rows = Fact.objects.of(tenant).select_related("conversation")
    return get_row(rows, "fact", id=fact_id)
