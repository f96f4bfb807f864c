"""The calls `profile`: facts about a user, a conversation or an agent, without a question."""

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import IntegrityError
from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from episodic import queries as episodic_queries
from memoryproject.edge.errors import NotFound
from memoryproject.edge.fields import (
    CONVERSATION,
    NAME_AT_MOST,
    Column,
    NameField,
    Output,
    Strict,
    WordField,
)
from memoryproject.edge.headers import markdown_response, set_headers
from memoryproject.edge.pages import QueryMomentField, QueryNumberField
from memoryproject.edge.schema import View, describe
from memoryproject.tenancy.views import ReadView
from memoryproject.text import tokens
from retrieval import profile
from retrieval.api.answers import LinksField
from retrieval.api.retrieve import Source
from retrieval.hits import EpisodeHit, FactHit
from retrieval.markdown import make_fence
from retrieval.profile import MAX_TOKENS, Profile, ProfileRequest, draft_profile
from retrieval.profile_lines import HEADINGS
from retrieval.receipts import write_receipt
from retrieval.scope import Scope, in_one
from semantic.renderings import CATEGORIES

SECTIONS = list(HEADINGS)
ONE_SECTION = f"({'|'.join(HEADINGS)})"


@extend_schema_field({"type": "string", "pattern": f"^{ONE_SECTION}(,{ONE_SECTION})*$"})
class SectionsField(serializers.CharField):
    """Sections of a profile with commas between them."""

    def to_internal_value(self, value: Any) -> Any:
        names = value.split(",")
        if any(name not in HEADINGS for name in names):
            known = ", ".join(HEADINGS)
            raise serializers.ValidationError(f"These must be some of: {known}.")
        return tuple(name for name in HEADINGS if name in names)


class ProfileQuery(Strict):
    """The query string of a profile."""

    max_tokens = QueryNumberField(
        "Token budget of the text.", default=MAX_TOKENS, min_value=1, max_value=1_000_000
    )
    sections = SectionsField(
        required=False, help_text="Only these sections, separated by commas; default: all."
    )
    as_of = QueryMomentField(
        "What was true then. ISO 8601, UTC without an offset, or ms since 1970; absent: what is "
        "believed now.",
        required=False,
    )
    format = WordField("Format of the answer.", choices=["markdown", "json"], default="markdown")
    fence = WordField(
        "Whether the text stands between two marks which say that it is data.",
        choices=["true", "false"],
        default="false",
    )
    links = LinksField()


class EarlierFact(Output):
    """A fact that a newer one replaces."""

    table = FactHit
    id = serializers.UUIDField(help_text="The id of the fact.")
    fact = Column("The fact: one sentence that can be understood by itself.")
    valid_at = Column("From when on it was true in the world.")


class ProfileFact(EarlierFact):
    """A line of a profile, with its sources and the facts that it replaces."""

    category = serializers.ChoiceField(
        choices=CATEGORIES, help_text="One of the eight categories of facts."
    )
    conversation_id = serializers.UUIDField(help_text=CONVERSATION)
    source_episodic_ids = serializers.ListField(
        child=serializers.UUIDField(),
        source="episode_ids",
        help_text="The episodes that support it now, oldest first.",
    )
    sources = Source(
        many=True, source="messages", help_text="The messages that say it, oldest first."
    )
    earlier = serializers.SerializerMethodField(help_text="Facts that it replaces, newest first.")

    @extend_schema_field(EarlierFact(many=True))
    def get_earlier(self, hit: FactHit) -> Any:
        return EarlierFact(self.context["earlier"].get(hit.id, ()), many=True).data


class ProfileEpisode(Output):
    """One of the last episodes."""

    table = EpisodeHit
    id = serializers.UUIDField(help_text="The id of the episode.")
    title = Column("What it was about, in 5 to 15 words.")
    summary = Column("What happened, in at most 50 words.")
    end_at = Column("When its last message was said.")
    conversation_id = serializers.UUIDField(help_text=CONVERSATION)


class ProfileSection(serializers.Serializer[Any]):
    """A part of a profile: facts, or for `episodes` the last episodes."""

    name = serializers.ChoiceField(
        choices=SECTIONS,
        help_text="dangers; guidelines (how to treat them); identity (who this is); preferences; "
        "present (present matters and plans); episodes (the last ones).",
    )
    facts = ProfileFact(many=True, help_text="Its lines, newest first; none in `episodes`.")
    episodes = ProfileEpisode(
        many=True, help_text="The last episodes, newest first; none in other sections."
    )


class ProfileOutput(serializers.Serializer[Any]):
    """A profile as JSON."""

    sections = ProfileSection(
        many=True, help_text="Those that have lines, in the order of the text."
    )
    text = serializers.CharField(help_text="The profile as markdown.")
    left_out = serializers.IntegerField(help_text="Lines that `max_tokens` has no room for.")
    tokens = serializers.IntegerField(help_text="Size of `text`.")
    counter = serializers.CharField(help_text="How `max_tokens` was counted.")
    receipt = serializers.UUIDField(help_text="Names this answer in audits.")


ANSWERS = {
    (200, "text/markdown"): OpenApiResponse(
        OpenApiTypes.STR,
        "The profile, as markdown or, with `format=json`, as JSON with the messages behind each "
        "line.",
    ),
    (200, "application/json"): ProfileOutput,
    304: OpenApiResponse(
        None, "The caller has it already: `If-None-Match` names its ETag. No receipt is written."
    ),
}


class Names(Strict):
    """The caller's own id of a user or an agent, from the path."""

    user_id = NameField()
    agent_id = NameField()


def in_path(name: str, description: str) -> OpenApiParameter:
    """Return the description of a user's or an agent's id in a path."""
    form = {"type": "string", "minLength": 1, "maxLength": NAME_AT_MOST}
    return OpenApiParameter(name, form, OpenApiParameter.PATH, description=description)


def describe_profile(call: str, *names: OpenApiParameter) -> Callable[[View], View]:
    """Return the decorator that describes a call which answers with a profile."""
    headers = "receipt token_counter cut fence read_from read_age"
    return describe(call, None, ANSWERS, headers, parameters=[ProfileQuery, *names])


class ProfileView(ReadView):
    """Answers with a profile."""

    for_users = True
    memory_operations = {"GET": "search_memory"}

    def find_scope(self, **named: Any) -> Scope | None:
        """Return the scope; None if there is nothing that the caller may see."""
        raise NotImplementedError

    def answer(self, **named: Any) -> HttpResponseBase:
        """Return the profile, or 304 if the caller has it already."""
        started = time.monotonic()
        params = {"links": self.key().links, **self.read_query(ProfileQuery)}
        form, is_fenced = params.pop("format"), params.pop("fence") == "true"
        options, fence = ProfileRequest(**params), make_fence(wanted=is_fenced)

        def draft() -> Profile:
            scope = self.find_scope(**named)
            return draft_profile(self.tenant(), scope, options, fence, now=timezone.now())

        drafted = self.read_rows(draft)
        body = render_profile(drafted)
        etag = make_etag(form, is_fenced, options.links, body)
        known = get_conditional_response(self.request, etag=etag)
        if known is not None:
            known["ETag"] = etag
            return known
        receipt = drafted.receipt
        receipt.asked_by = self.key()
        receipt.parameters = {**named, **asdict(options), "fence": is_fenced}
        try:
            write_receipt(receipt, hits=drafted.hits, started=started)
        except IntegrityError:  # a replica still had the conversation
            raise NotFound("There is no such conversation.") from None
        response: HttpResponse = markdown_response(drafted.text)
        if form == "json":
            response = Response({**body, "receipt": str(receipt.id)})
        response["ETag"] = etag
        counter, cut = tokens.in_use().name, drafted.left_out or None
        return set_headers(
            response, receipt=receipt.id, token_counter=counter, cut=cut, fence=fence.nonce
        )


class UserProfile(ProfileView):
    def find_scope(self, **named: Any) -> Scope | None:
        return profile.of_user(self.tenant(), named["user_id"])

    @describe_profile("get_user_profile", in_path("user_id", "Whose profile, by your own id."))
    def get(self, request: Request, user_id: str) -> HttpResponseBase:
        """Get what to know of a user, unasked.

        What an agent should know of a user before the first question, in a budget: dangers, how to
        treat them, who this is, preferences, present matters and plans by month, last episodes.
        Chosen from all their conversations without a query and without a model. Of two values of
        one subject the newer stands there; as JSON the older ones are `earlier`. Empty where
        nothing is known.
        """
        return self.answer(**self.read(Names, {"user_id": user_id}))


class AgentProfile(ProfileView):
    def find_scope(self, **named: Any) -> Scope | None:
        return profile.of_agent(self.tenant(), named["agent_id"])

    @describe_profile(
        "get_agent_profile",
        in_path("agent_id", "From whose conversations, by your own id of the agent."),
    )
    def get(self, request: Request, agent_id: str) -> HttpResponseBase:
        """Get what to know from an agent's conversations, unasked.

        As the profile of a user, from the newest conversations that this agent leads, 200 at most.
        """
        return self.answer(**self.read(Names, {"agent_id": agent_id}))


class ConversationProfile(ProfileView):
    def find_scope(self, **named: Any) -> Scope | None:
        return in_one(episodic_queries.get_by_external_id(
            tenant=self.tenant(), external_id=named["conversation_id"]
        ))  # fmt: skip

    @describe_profile("get_conversation_profile")
    def get(self, request: Request, conversation_id: uuid.UUID) -> HttpResponseBase:
        """Get what to know from one conversation, unasked.

        As the profile of a user, from one conversation alone.
        """
        return self.answer(conversation_id=conversation_id)


def make_etag(form: str, is_fenced: bool, links: str, body: Mapping[str, Any]) -> str:
    """Return a tag that changes with anything shown, its sources and what it replaces.

    Weak: the marks around a text differ from answer to answer, and so does the receipt.
    """
    versions = [form, is_fenced, links, body["left_out"], body["sections"]]
    digest = hashlib.sha256(json.dumps(versions, cls=JSONEncoder).encode())
    return f'W/"{digest.hexdigest()}"'


def render_profile(drafted: Profile) -> dict[str, Any]:
    """Return the values of a `ProfileOutput`, without its receipt."""
    sections = [
        {"name": name, "facts": facts, "episodes": episodes}
        for name, lines in groupby(drafted.lines, key=attrgetter("section"))
        for facts, episodes in [_render_lines([line.hit for line in lines], drafted)]
    ]
    return {
        "sections": sections,
        "text": drafted.text,
        "left_out": drafted.left_out,
        "tokens": drafted.receipt.tokens,
        "counter": tokens.in_use().name,
    }


def _render_lines(
    hits: Sequence[FactHit | EpisodeHit], drafted: Profile
) -> tuple[list[Any], list[Any]]:
    facts = [hit for hit in hits if isinstance(hit, FactHit)]
    episodes = [hit for hit in hits if isinstance(hit, EpisodeHit)]
    context = {"earlier": drafted.earlier}
    shown = ProfileFact(facts, many=True, context=context).data
    return list(shown), list(ProfileEpisode(episodes, many=True).data)
