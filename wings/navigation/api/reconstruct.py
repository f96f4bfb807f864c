"""The call `reconstruct_context`: memories about a query, and those linked with them."""

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.fields import AskedMomentField, Output, WholeNumberField
from memoryproject.edge.schema import describe
from retrieval.api.answers import BudgetField, FenceField
from wings.navigation import reconstruction
from wings.navigation.api.narrowed import MirroredView, NarrowedInput
from wings.navigation.reconstruction import LEVELS, USUAL_LEVEL, Recalled, Reconstruction


class ReconstructInput(NarrowedInput):
    """The body of `reconstruct_context`."""

    focus_level = WholeNumberField(default=USUAL_LEVEL, min_value=0, max_value=len(LEVELS) - 1)
    since = AskedMomentField(required=False)
    max_tokens = BudgetField(required=False)
    fence = FenceField()


class RecalledOutput(Output):
    """A memory with its full content."""

    table = Recalled
    columns = (
        "memory.id memory.kind memory.content memory.user_id? memory.category? memory.importance "
        "memory.emotion_type? memory.emotion_intensity memory.emotion_valence? "
        "timestamp=memory.at linked_memory_ids=linked_ids memory.tags file_path distance depth "
        "_distance=distance"  # the specification's name
    )


class ReconstructionOutput(Output):
    """The memories returned, and their text."""

    table = Reconstruction
    columns = (
        "focus_level since total_memories=total memories_retrieved synthesized_context=text "
        "context_tokens=tokens fence=fence.nonce counter cut receipt=receipt.id? degraded?"
    )
    since = serializers.DateTimeField()
    memories_retrieved = RecalledOutput(source="recalled", many=True)


class ReconstructContext(MirroredView):
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
        )
