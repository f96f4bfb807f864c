"""The call `reconstruct_context`: what a query is about, with what it is linked with."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from indexing.models import MemoryKind
from memoryproject.edge.fields import AskedMomentField, FlagField, TextOrNull, WholeNumberField
from retrieval.api.answers import MirroredView, NarrowedInput
from retrieval.api.forms import DEGRADED, FENCE, RECEIPT_OR_NULL, BudgetField, NonceField
from retrieval.reading import reconstruction
from retrieval.reading.reconstruction import LEVELS, USUAL_LEVEL


class ReconstructInput(NarrowedInput):
    """The body of `reconstruct_context`."""

    focus_level = WholeNumberField(
        default=USUAL_LEVEL,
        min_value=0,
        max_value=len(LEVELS) - 1,
        help_text="From 0 to 5: memories found at most 2, 5, 8, 10, 15, 20; hours looked back 1, "
        "4, 12, 24, 72, 168; links followed 0, 1, 1, 2, 3, 3 steps.",
    )
    since = AskedMomentField(
        required=False, help_text="Instead of the level's hours; UTC without an offset."
    )
    max_tokens = BudgetField(
        required=False,
        help_text="Of `synthesized_context`, never over it: what does not fit is left out whole.",
    )
    fence = FlagField(default=False, help_text=FENCE)


class RecalledOutput(serializers.Serializer[Any]):
    """A memory with its full content."""

    id = serializers.UUIDField(source="memory.id")
    kind = serializers.ChoiceField(choices=MemoryKind.choices, source="memory.kind.value")
    content = serializers.CharField(source="memory.content")
    user_id = TextOrNull(source="memory.user_id")
    category = TextOrNull(source="memory.category")
    importance = serializers.FloatField(
        source="memory.importance", help_text="A note's own; of an episode its surprise."
    )
    emotion_type = TextOrNull(source="memory.emotion_type")
    emotion_intensity = serializers.FloatField(source="memory.emotion_intensity", allow_null=True)
    emotion_valence = TextOrNull(source="memory.emotion_valence")
    timestamp = serializers.DateTimeField(source="memory.at", help_text="When it was so.")
    linked_memory_ids = serializers.ListField(
        source="linked_ids", child=serializers.UUIDField(), help_text="Both ways, newest first."
    )
    tags = serializers.ListField(
        source="memory.tags", child=serializers.CharField(), help_text="Of a fact its keywords."
    )
    file_path = serializers.CharField(
        allow_null=True, help_text="In the mirror's folder; null: it is not mirrored."
    )
    distance = serializers.FloatField(
        allow_null=True,
        help_text="1 less the cosine, less is nearer; null: keywords found it, or links.",
    )
    depth = serializers.IntegerField(help_text="Links followed to get there; 0: it was found.")

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, the distance under the specification's name, too."""
        named = serializers.FloatField(source="distance", allow_null=True, help_text="The same.")
        return {**super().get_fields(), "_distance": named}


class ReconstructionOutput(serializers.Serializer[Any]):
    """What was brought back."""

    focus_level = serializers.IntegerField()
    since = serializers.DateTimeField(help_text="What was found is not older.")
    total_memories = serializers.IntegerField(
        source="total", help_text="Each counted once, before the budget."
    )
    memories_retrieved = RecalledOutput(
        source="recalled",
        many=True,
        help_text="Found ones best first, then linked ones, nearest first.",
    )
    synthesized_context = serializers.CharField(
        source="text", help_text="Markdown for a prompt, or empty."
    )
    context_tokens = serializers.IntegerField(source="tokens")
    fence = NonceField()
    counter = serializers.CharField(help_text="How tokens are counted.")
    cut = serializers.BooleanField(help_text="Links lead to more than was brought back.")
    receipt = serializers.UUIDField(source="receipt.id", allow_null=True, help_text=RECEIPT_OR_NULL)
    degraded = TextOrNull(help_text=DEGRADED)


class ReconstructContext(MirroredView):
    """Searches, follows links, and puts both together."""

    for_users = True
    memory_operations = {"POST": "search_memory"}

    @extend_schema(
        operation_id="reconstruct_context",
        request=ReconstructInput,
        responses=ReconstructionOutput,
        description="Searches episodes, facts and notes of the whole tenant within the hours of "
        "the focus level, follows the links of the best five, and returns each memory once, with "
        "its full content, and all as one numbered text. The filters hold for what is found; "
        "links lead beyond them. What is retired is left out. Where memories are "
        "mirrored, a key used within the last five minutes is answered from the mirror while the "
        "database is away: by keywords alone, with `degraded` mirror.",
    )
    def post(self, request: Request) -> Response:
        params = reconstruction.ReconstructRequest(
            **{"links": self.key().links, **self.read(ReconstructInput)}
        )
        return self.answer(
            ReconstructionOutput,
            lambda: reconstruction.reconstruct(
                tenant=self.tenant(), asked_by=self.key(), request=params, now=timezone.now()
            ),
            lambda: reconstruction.reconstruct_from_mirror(
                tenant=self.tenant(), request=params, now=timezone.now()
            ),
            links=params.links,
        )
