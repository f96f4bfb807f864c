"""Bringing back what a query is about, with what it is linked with."""

from __future__ import annotations

from typing import Any

from django.db import InterfaceError, OperationalError
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from indexing.models import MemoryKind
from memoryproject import tokens
from memoryproject.fields import (
    ContentField,
    FlagField,
    IdField,
    MomentField,
    NumberField,
    Strict,
    TextField,
    WholeNumberField,
    WordField,
    say_moment,
)
from memoryproject.tenancy.models import Scope
from memoryproject.views import KeyedView
from notes.forms import ID_AT_MOST, VALENCES, WORD_AT_MOST
from retrieval import mirror, mirror_answers, reconstruction
from retrieval.forms import ASKED_IN, DEGRADED, FENCE, RECEIPT_OR_NULL
from retrieval.reconstruction import LEVELS, USUAL_LEVEL, Recalled, Reconstruction


class ReconstructInput(Strict):
    """The body of `reconstruct_context`."""

    query = ContentField(help_text="What it is about, in words.")
    focus_level = WholeNumberField(
        default=USUAL_LEVEL,
        min_value=0,
        max_value=len(LEVELS) - 1,
        help_text="From 0 to 5: memories found at most 2, 5, 8, 10, 15, 20; hours looked back 1, "
        "4, 12, 24, 72, 168; links followed 0, 1, 1, 2, 3, 3 steps.",
    )
    conversation_id = IdField(required=False, help_text="Only what belongs to it.")
    user_id = TextField(
        required=False, max_length=ID_AT_MOST, help_text="Only notes about this user."
    )
    since = MomentField(required=False, help_text="Instead of the level's hours.")
    until = MomentField(required=False)
    category = TextField(required=False, max_length=WORD_AT_MOST)
    min_importance = NumberField(required=False, min_value=0, max_value=1)
    emotion_valence = WordField(choices=VALENCES, required=False)
    max_tokens = WholeNumberField(
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text="Of `synthesized_context`, never over it: what does not fit is left out whole.",
    )
    asked_in = IdField(required=False, help_text=ASKED_IN)
    fence = FlagField(default=False, help_text=FENCE)


class RecalledOutput(serializers.Serializer[Any]):
    """A memory with its full content."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=MemoryKind.choices)
    content = serializers.CharField()
    user_id = serializers.CharField(allow_null=True)
    category = serializers.CharField(allow_null=True)
    importance = serializers.FloatField(help_text="A note's own; of an episode its surprise.")
    emotion_type = serializers.CharField(allow_null=True)
    emotion_intensity = serializers.FloatField(allow_null=True)
    emotion_valence = serializers.CharField(allow_null=True)
    timestamp = serializers.DateTimeField(help_text="When it was so.")
    linked_memory_ids = serializers.ListField(
        child=serializers.UUIDField(), help_text="Both ways, newest first."
    )
    tags = serializers.ListField(child=serializers.CharField(), help_text="Of a fact its keywords.")
    file_path = serializers.CharField(
        allow_null=True, help_text="In the mirror's folder; null: it is not mirrored."
    )
    distance = serializers.FloatField(
        allow_null=True,
        help_text="1 less the cosine, less is nearer; null: words found it, or links.",
    )
    depth = serializers.IntegerField(help_text="Links followed to get there; 0: it was found.")


class ReconstructionOutput(serializers.Serializer[Any]):
    """What was brought back."""

    focus_level = serializers.IntegerField()
    since = serializers.DateTimeField(help_text="What was found is not older.")
    total_memories = serializers.IntegerField(help_text="Each counted once, before the budget.")
    memories_retrieved = RecalledOutput(
        many=True, help_text="Found ones best first, then linked ones, nearest first."
    )
    synthesized_context = serializers.CharField(help_text="Markdown for a prompt, or empty.")
    context_tokens = serializers.IntegerField()
    fence = serializers.CharField(
        allow_null=True, help_text="The random word in the marks around it, or null."
    )
    counter = serializers.CharField(help_text="How tokens are counted.")
    cut = serializers.BooleanField(help_text="Links lead to more than was brought back.")
    receipt = serializers.UUIDField(allow_null=True, help_text=RECEIPT_OR_NULL)
    degraded = serializers.CharField(allow_null=True, help_text=DEGRADED)


class ReconstructContext(KeyedView):
    """Searches, follows links, and puts both together."""

    scope = Scope.READ

    @extend_schema(
        operation_id="reconstruct_context",
        request=ReconstructInput,
        responses=ReconstructionOutput,
        description="Searches episodes, facts and notes of the whole tenant within the hours of "
        "the focus level, follows the links of the best five, and returns each memory once, with "
        "its full content, and all as one numbered text. The filters hold for what is found; "
        "links lead beyond them. What is not held any more is left out. Where memories are "
        "mirrored, a key used within the last five minutes is answered from the mirror while the "
        "database is away: by words alone, with `degraded` mirror.",
    )
    def post(self, request: HttpRequest) -> Response:
        given = self.read(ReconstructInput)
        answer = self.answer(reconstruction.Request(**given))
        response = Response(render_reconstruction(answer, focus_level=given["focus_level"]))
        if answer.receipt:
            response["Memory-Receipt"] = str(answer.receipt.id)
        if answer.degraded:
            response["Memory-Degraded"] = answer.degraded
        return response

    def answer(self, asked: reconstruction.Request) -> Reconstruction:
        """Return the answer: from the mirror, if there is one, while the database is away."""
        try:
            return reconstruction.reconstruct(
                tenant=self.tenant(), asked_by=self.key(), request=asked, now=timezone.now()
            )
        except (OperationalError, InterfaceError):
            if not self.answers_without_database():
                raise
        return mirror_answers.reconstruct(tenant=self.tenant(), request=asked, now=timezone.now())

    def answers_without_database(self) -> bool:
        """Return whether memories are mirrored."""
        return mirror.is_on()


def render_reconstruction(answer: Reconstruction, *, focus_level: int) -> dict[str, Any]:
    """Return what was brought back, as JSON."""
    return {
        "focus_level": focus_level,
        "since": say_moment(answer.since),
        "total_memories": answer.total,
        "memories_retrieved": [_render_recalled(one) for one in answer.recalled],
        "synthesized_context": answer.context.text,
        "context_tokens": answer.context.tokens,
        "fence": answer.fence.nonce if answer.fence else None,
        "counter": tokens.in_use().name,
        "cut": answer.cut,
        "receipt": str(answer.receipt.id) if answer.receipt else None,
        "degraded": answer.degraded or None,
    }


def _render_recalled(recalled: Recalled) -> dict[str, Any]:
    memory = recalled.memory
    return {
        "id": str(memory.id),
        "kind": memory.kind.value,
        "content": memory.content,
        "user_id": memory.user_id or None,
        "category": memory.category or None,
        "importance": memory.importance,
        "emotion_type": memory.emotion_type or None,
        "emotion_intensity": memory.emotion_intensity,
        "emotion_valence": memory.emotion_valence or None,
        "timestamp": say_moment(memory.at),
        "linked_memory_ids": [str(other) for other in recalled.linked_ids],
        "tags": list(memory.tags),
        "file_path": recalled.file_path,
        "distance": recalled.distance,
        "depth": recalled.depth,
    }
