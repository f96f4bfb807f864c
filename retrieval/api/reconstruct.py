"""The call `reconstruct_context`: what a query is about, with what it is linked with."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from indexing.models import MemoryKind
from memoryproject.edge.fields import AskedMomentField, FlagField, Output, WholeNumberField
from memoryproject.edge.schema import describe
from retrieval.api.answers import MirroredView, NarrowedInput
from retrieval.api.forms import DEGRADED, FENCE, RECEIPT_OR_NULL, BudgetField, NonceField
from retrieval.reading import reconstruction
from retrieval.reading.reconstruction import LEVELS, USUAL_LEVEL


class ReconstructInput(NarrowedInput):
    """The body of `reconstruct_context`."""

    focus_level = WholeNumberField(default=USUAL_LEVEL, min_value=0, max_value=len(LEVELS) - 1)
    since = AskedMomentField(required=False)
    max_tokens = BudgetField(required=False)
    fence = FlagField(default=False, help_text=FENCE)


class RecalledOutput(Output):
    """A memory with its full content."""

    id = serializers.UUIDField(source="memory.id")
    kind = serializers.ChoiceField(choices=MemoryKind.choices, source="memory.kind.value")
    content = serializers.CharField(source="memory.content")
    user_id = serializers.CharField(allow_null=True, source="memory.user_id")
    category = serializers.CharField(allow_null=True, source="memory.category")
    importance = serializers.FloatField(source="memory.importance")
    emotion_type = serializers.CharField(allow_null=True, source="memory.emotion_type")
    emotion_intensity = serializers.FloatField(source="memory.emotion_intensity", allow_null=True)
    emotion_valence = serializers.CharField(allow_null=True, source="memory.emotion_valence")
    timestamp = serializers.DateTimeField(source="memory.at")
    linked_memory_ids = serializers.ListField(source="linked_ids", child=serializers.UUIDField())
    tags = serializers.ListField(source="memory.tags", child=serializers.CharField())
    file_path = serializers.CharField(allow_null=True)
    distance = serializers.FloatField(allow_null=True)
    depth = serializers.IntegerField()

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, the distance under the specification's name, too."""
        named = serializers.FloatField(source="distance", allow_null=True, help_text="The same.")
        return {**super().get_fields(), "_distance": named}


class ReconstructionOutput(Output):
    """What was brought back."""

    focus_level = serializers.IntegerField()
    since = serializers.DateTimeField()
    total_memories = serializers.IntegerField(source="total")
    memories_retrieved = RecalledOutput(source="recalled", many=True)
    synthesized_context = serializers.CharField(source="text")
    context_tokens = serializers.IntegerField(source="tokens")
    fence = NonceField()
    counter = serializers.CharField()
    cut = serializers.BooleanField()
    receipt = serializers.UUIDField(source="receipt.id", allow_null=True, help_text=RECEIPT_OR_NULL)
    degraded = serializers.CharField(allow_null=True, help_text=DEGRADED)


class ReconstructContext(MirroredView):
    """Searches, follows links, and puts both together."""

    for_users = True
    memory_operations = {"POST": "search_memory"}

    @describe("reconstruct_context", ReconstructInput, ReconstructionOutput)
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
