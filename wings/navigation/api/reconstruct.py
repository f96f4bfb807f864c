"""The call `reconstruct_context`: memories about a query, and those linked with them."""

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.fields import AskedMomentField, Column, Output, WholeNumberField
from memoryproject.edge.schema import describe
from retrieval.api.answers import BudgetField, FenceField
from wings.navigation import reconstruction
from wings.navigation.api.narrowed import MirroredView, NarrowedInput
from wings.navigation.reconstruction import LEVELS, USUAL_LEVEL, Recalled, Reconstruction


class ReconstructInput(NarrowedInput):
    """The body of `reconstruct_context`."""

    focus_level = WholeNumberField(
        "From 0 to 5: memories found at most 2, 5, 8, 10, 15, 20; hours looked back 1, 4, 12, 24, "
        "72, 168; links followed 0, 1, 1, 2, 3, 3 steps.",
        default=USUAL_LEVEL,
        min_value=0,
        max_value=len(LEVELS) - 1,
    )
    since = AskedMomentField("Instead of the level's hours; UTC without an offset.", required=False)
    max_tokens = BudgetField(
        "Of `synthesized_context`, never over it: what does not fit is left out whole.",
        required=False,
    )
    fence = FenceField()


class RecalledOutput(Output):
    """A memory with its full content."""

    table = Recalled
    id = Column("The id of the memory.", "memory.id")
    kind = Column("What kind of memory it is: episode, fact or note.", "memory.kind")
    content = Column("The whole text of the memory.", "memory.content")
    user_id = Column(
        "Whom a note is about; else whose its conversation is; null: nobody was named.",
        "memory.user_id",
        allow_null=True,
    )
    category = Column("Of a fact or a note; null: none.", "memory.category", allow_null=True)
    importance = Column("A note's own; of an episode its surprise.", "memory.importance")
    emotion_type = Column(
        "Of a note, the name of a feeling; null: none.", "memory.emotion_type", allow_null=True
    )
    emotion_intensity = Column(
        "Of a note, how strong the feeling is, from 0 to 1; null: not said.",
        "memory.emotion_intensity",
    )
    emotion_valence = Column(
        "Of a note, which way the feeling points; null: not said.",
        "memory.emotion_valence",
        allow_null=True,
    )
    timestamp = Column("When it was so.", "memory.at")
    linked_memory_ids = Column("Both ways, newest first.", "linked_ids")
    tags = Column("Of a fact its keywords.", "memory.tags")
    file_path = Column("In the mirror's folder; null: it is not mirrored.")
    distance = Column("1 less the cosine, less is nearer; null: keywords found it, or links.")
    depth = Column("Links followed to get there; 0: it was found.")
    _distance = Column("The same.", "distance")


class ReconstructionOutput(Output):
    """The memories returned, and their text."""

    table = Reconstruction
    focus_level = Column("The level of focus that was applied, from 0 to 5.")
    since = serializers.DateTimeField(help_text="What was found is not older.")
    total_memories = Column("Each counted once, before the budget.", "total")
    memories_retrieved = RecalledOutput(
        source="recalled",
        many=True,
        help_text="Found ones best first, then linked ones, nearest first.",
    )
    synthesized_context = Column("Markdown for a prompt, or empty.", "text")
    context_tokens = Column("Tokens of `synthesized_context`.", "tokens")
    fence = Column("The random word in the marks around it, or null.", "fence.nonce")
    counter = Column("How tokens are counted.")
    cut = Column("Links lead to more than was brought back.")
    receipt = Column(
        "Names this answer in audits; null: the database was away.", "receipt.id", allow_null=True
    )
    degraded = Column(
        "no_vectors: only words were searched; old_vectors: the embedding model has changed, and "
        "older memories were found by keyword alone; mirror: in files, as the database was away; "
        "null: nothing missing.",
        allow_null=True,
    )


class ReconstructContext(MirroredView):
    for_users = True
    memory_operations = {"POST": "search_memory"}

    @describe(
        "reconstruct_context", ReconstructInput, ReconstructionOutput, headers="receipt degraded"
    )
    def post(self, request: Request) -> Response:
        """Bring back what a query is about, with what it is linked with.

        Searches episodes, facts and notes of the whole tenant within the hours of the focus level,
        follows the links of the best five, and returns each memory once, with its full content, and
        all as one numbered text. The filters hold for what is found; links lead beyond them. What
        is retired is left out. Where memories are mirrored, a key used within the last five minutes
        is answered from the mirror while the database is away: by keywords alone, with `degraded`
        mirror.
        200: The memories, and one text made of them.
        """
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
