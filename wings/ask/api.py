"""The call `ask`: answers a question in sentences with checked citations."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.models import LLMCall
from memoryproject.edge import fields
from memoryproject.edge.headers import AnyResponse, set_headers
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.views import ReadView
from retrieval.api.answers import BudgetField
from retrieval.api.retrieve import RetrieveInput
from retrieval.api.scoped import default_scope
from retrieval.models import Retrieval
from retrieval.request import RecallRequest
from wings.ask.asking import ABSTENTIONS, Answer, Sentence, Struck, ask, check_model
from wings.ask.lines import KINDS, REASONS, Citation
from wings.ask.places import taking_place

MAX_TOKENS = 4_000


class AskInput(RetrieveInput):
    """The body of `ask`: the question, and the options of `retrieve_memory`."""

    ignored = frozenset()

    detail = explain = style = fence = whole = None  # type: ignore[assignment]  # of texts for a prompt
    max_tokens = BudgetField(
        "Token budget of the memories for the model; less if its context is smaller.",
        default=MAX_TOKENS,
    )
    min_relevance = fields.NumberField(
        "Relevance below which the model is not asked, and there is no answer.",
        default=0,
        min_value=0,
        max_value=1,
    )
    stream = fields.FlagField(
        "Answer with server-sent events: `retrieved`, a `sentence` for each, `done`.", default=False
    )


class CitationOutput(fields.Output):
    """A memory that supports a sentence, and the words quoted from it."""

    table = Citation
    id = serializers.UUIDField(help_text="The fact, message or episode.")
    kind = serializers.ChoiceField(choices=KINDS, help_text="What it is.")
    quote = fields.Column(
        "Its words, as the model quotes them; case, spacing and punctuation may differ."
    )


class SentenceOutput(fields.Output):
    """A sentence with its citations, each found in what was served."""

    table = Sentence
    text = fields.Column("The sentence, its links defanged as in texts for a prompt.")
    citations = CitationOutput(
        many=True, help_text="What it rests on: one at least, and each stands."
    )


class StruckOutput(fields.Output):
    """A sentence of the model that was left out, and why."""

    table = Struck
    text = fields.Column("The sentence, its links defanged as in texts for a prompt.")
    reason = serializers.ChoiceField(
        choices=REASONS,
        help_text="no_citation: it cites nothing; not_served: what it cites was not served; "
        "not_quoted: the words do not stand there; not_carried: a number, date, name or address "
        "is not in what it cites, or too few of its words are.",
    )


class ModelOutput(serializers.Serializer[Any]):
    """What the answer of a model cost."""

    model = serializers.CharField(
        allow_null=True, help_text="The model that answered; null: none was asked."
    )
    model_calls = serializers.IntegerField(help_text="How often the model was asked.")
    cost = serializers.FloatField(
        allow_null=True,
        help_text="What that cost, in the currency of the prices; null: the model has no price.",
    )


class AskOutput(ModelOutput):
    """An answer with checked citations."""

    answer = serializers.CharField(
        help_text="The sentences that stand, as one text; empty where it abstains."
    )
    sentences = SentenceOutput(many=True, help_text="Those of the answer, in order.")
    struck = StruckOutput(
        many=True,
        help_text="Sentences of the model that do not stand, and why: they are not in the answer.",
    )
    abstained = serializers.BooleanField(help_text="Whether there is no answer.")
    why = serializers.ChoiceField(
        choices=ABSTENTIONS,
        allow_null=True,
        help_text="Why there is none: min_relevance or nothing_served (the model was not asked), "
        "not_in_memory (the model says so), all_struck (no sentence stands); null: there is one.",
    )
    relevance = serializers.FloatField(
        allow_null=True,
        help_text="How likely it is that what was served holds what was asked for, 0 to 1; null: "
        "not known.",
    )
    receipt = serializers.UUIDField(
        help_text="Names the retrieval that it was answered from: `GET retrievals/{id}` shows it."
    )
    further_receipt = serializers.UUIDField(
        allow_null=True,
        help_text="Likewise, of the model's further questions; null: it had none.",
    )
    pending = serializers.IntegerField(help_text="Messages that no episode holds yet.")
    degraded = serializers.CharField(allow_null=True, help_text="As in the receipt.")


class Ask(ReadView):
    for_users = True
    memory_operations = {"POST": "search_memory"}

    @describe(
        "ask",
        AskInput,
        {
            (200, "application/json"): AskOutput,
            (200, "text/event-stream"): OpenApiTypes.STR,
            409: Error,
        },
        headers="receipt read_from read_age",
    )
    def post(self, request: Request) -> HttpResponse:
        """Get a question answered in sentences, each with checked citations.

        The one call of the reading side that asks a language model. It retrieves as
        `retrieve_memory` does, lets the model answer from exactly that, and checks each sentence: a
        citation stands where its words stand in the memory that it names, and a sentence without
        one that stands is struck, as is one whose numbers, dates or names are not in what it cites.
        It abstains without a call of the model below `min_relevance`. The model may ask two further
        questions, once. Nothing of the answer is kept but its receipt and its cost. With `stream`
        the same comes as server-sent events, when all is checked.
        200: The answer, or that there is none, and why.
        409: No language model is set up, or it has no price while there is a budget: the message
            says what to set.
        """
        context = default_scope(self.tenant(), self.key())
        params = {"links": self.key().links, **self.read(AskInput, context=context)}
        is_streamed = params.pop("stream")
        check_model()
        asked = RecallRequest(kind=Retrieval.Kind.ASK, **params)
        with taking_place(self.tenant()):
            answer = ask(self.reading(), asked, now=timezone.now())
        body = render(answer)
        if is_streamed:
            events = "".join(render_events(body))
            return _with_receipt(HttpResponse(events, content_type="text/event-stream"), body)
        return _with_receipt(Response(body), body)


def _with_receipt(response: AnyResponse, body: dict[str, Any]) -> AnyResponse:
    return set_headers(response, receipt=body["receipt"])


def render(answer: Answer) -> dict[str, Any]:
    """Return the values of an `AskOutput`."""
    receipt, further = answer.draft.receipt, answer.further_draft
    return {
        "answer": " ".join(sentence.text for sentence in answer.sentences),
        "sentences": SentenceOutput(answer.sentences, many=True).data,
        "struck": StruckOutput(answer.struck, many=True).data,
        "abstained": answer.why is not None,
        "why": answer.why,
        "relevance": receipt.relevance,
        "receipt": str(receipt.id),
        "further_receipt": further and str(further.receipt.id),
        **render_calls(answer.asker.calls),
        "pending": answer.progress.pending,
        "degraded": receipt.degraded or None,
    }


def render_calls(calls: Sequence[LLMCall]) -> dict[str, Any]:
    """Return the values of a `ModelOutput`."""
    costs = [call.cost for call in calls]
    return {
        "model": calls[-1].model if calls else None,
        "model_calls": len(calls),
        "cost": None if None in costs else float(sum(cost for cost in costs if cost is not None)),
    }


def render_events(body: dict[str, Any]) -> Iterator[str]:
    """Yield an answer as server-sent events, once all sentences are checked."""
    yield _render_event("retrieved", {name: body[name] for name in ("receipt", "relevance")})
    for sentence in body["sentences"]:
        yield _render_event("sentence", sentence)
    yield _render_event("done", {name: body[name] for name in body if name != "sentences"})


def _render_event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
