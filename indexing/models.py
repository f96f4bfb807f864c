"""The registry of memories, and everything about them that can be searched."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Case, F, Func, Q, When
from django.db.models.functions import Now
from pgvector.django import HalfVectorField, SparseVectorField

from indexing.languages import LANGUAGES
from memoryproject.database.constraints import check, index, unique, unique_null
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import TenantModel

WORD_SLOTS = 1_000_000_000
"""Number of values of `SearchUnit.words`: two for each of half a billion hashes of a lexeme."""
COVERED_DIM = 1024
"""Wider vectors do not fit an index row: (8 kB page − header) / 3 = 2,704 bytes."""


class MemoryKind(models.TextChoices):
    """What a memory is."""

    EPISODE = "episode", "episode"
    FACT = "fact", "fact"
    NOTE = "note", "note"


class Memory(TenantModel):
    """The registry with which episodes, facts and notes share their ids.

    So a link or a search unit can refer to any of them by a real foreign key.
    """

    kind = models.CharField(max_length=8, choices=MemoryKind.choices)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        verbose_name_plural = "memories"
        constraints = [check("indexing_memory_kind_known", Q(kind__in=MemoryKind.values))]


class UnitKind(models.TextChoices):
    """The kind of text a search unit is made of."""

    EPISODE = "episode", "title and summary of an episode"
    MESSAGE = "message", "one message of an episode"
    FACT = "fact", "a fact"
    NOTE = "note", "a note"


USER_SCOPE_HELP = "The scope of the user whose it is, from `owners`; NULL: none."


# No COALESCE: of that Postgres does not know that it tells nobody anything, so behind row level
# security no index would be narrowed by it. It compares expressions: statements write it just so.
OWNER = Case(
    When(user_scope=None, then=F("conversation")),
    default=F("user_scope"),
    output_field=models.UUIDField(),
)
"""Owner of an entry: the scope of its user, or its conversation if it has no user."""


def owned(*fields: str) -> tuple[Any, ...]:
    """Return the columns of an index that starts with tenant and owner."""
    return F("tenant"), OWNER, *map(F, fields)


class Searchable(TenantModel):
    """Columns by which a search is filtered, in both tables of the index.

    They are stored beside the text and beside the vector, so that a filter applies before a limit.
    `services.mark_memories` keeps them equal to the memory's.
    """

    conversation = TenantForeignKey("episodic.Conversation", null=True, db_index=False)
    user_scope = models.UUIDField(null=True, help_text=USER_SCOPE_HELP)
    memory = TenantForeignKey(Memory, null=True)
    kind = models.CharField(max_length=8, choices=UnitKind.choices)
    shelf = models.CharField(
        max_length=8,
        choices=MemoryKind.choices,
        help_text="Which kind of memory the unit leads to: each kind is ranked by itself.",
    )
    category = models.CharField(
        max_length=16, blank=True, help_text="Category of a fact; else empty."
    )
    valid_at = models.DateTimeField(help_text="Time from which it was true in the world.")
    valid_until = models.DateTimeField(
        null=True, help_text="Time until which it was true; NULL: still true."
    )
    invalid_at = models.DateTimeField(
        null=True, help_text="When the server stopped believing it; NULL: it still does."
    )

    class Meta(TenantModel.Meta):
        abstract = True


class UnreadGeneratedField(models.GeneratedField):
    """A generated column that INSERT does not return: it is not needed, and `words` are large."""

    db_returning = False  # type: ignore[assignment]

    def deconstruct(self) -> Any:
        """Return Django's own field for migrations: the database sees no difference."""
        name, _, args, options = super().deconstruct()
        return name, "django.db.models.GeneratedField", args, options


class SearchUnit(Searchable):
    """A text that can be found by its words."""

    first_seq = models.BigIntegerField(
        null=True, help_text="First message it stands for; of a note its part, from 0."
    )
    last_seq = models.BigIntegerField(
        null=True, help_text="Last message it stands for; of a note its part, from 0."
    )
    language = models.CharField(max_length=16, choices=[(name, name) for name in LANGUAGES])
    lexical_text = models.TextField(help_text="Prepared by indexing.text: bigrams included.")
    own_words = models.IntegerField(
        null=True,
        help_text="Number of its own words, which come before its neighbors'. NULL: all.",
    )
    words = UnreadGeneratedField(
        expression=Func(F("language"), F("lexical_text"), function="public.memory_words"),
        output_field=SparseVectorField(dimensions=WORD_SLOTS),
        db_persist=True,
        help_text="Its lexemes: 1 in a slot for each; the next slot has the weight of repeats.",
    )
    dl = UnreadGeneratedField(
        expression=Func(F("language"), F("lexical_text"), function="public.memory_dl"),
        output_field=models.IntegerField(),
        db_persist=True,
        help_text="Length in lexemes.",
    )

    class Meta(Searchable.Meta):
        indexes = [
            models.Index(
                *owned("shelf", "conversation"),
                # An index-only scan needs what the owner is computed from.
                include=["user_scope", "id", "memory", "category", "dl", "words"],
                condition=Q(invalid_at=None),
                name="indexing_unit_words_of_owner",
            ),
            models.Index(*owned("conversation", "valid_at"), name="indexing_unit_time_of_owner"),
            GinIndex(
                Func(
                    F("kind"),
                    F("language"),
                    F("lexical_text"),
                    F("own_words"),
                    function="public.memory_terms",
                    output_field=ArrayField(models.IntegerField()),
                ),
                name="indexing_unit_by_terms",
            ),
        ]


class SearchVector(Searchable):
    """The vector of a text, by one embedding model.

    Kept apart from the text, so that keyword search reads narrow rows.
    """

    unit = TenantForeignKey(SearchUnit)
    model = models.CharField(max_length=200)
    dim = models.PositiveSmallIntegerField()
    embedding = HalfVectorField(help_text="A unit vector: order by <#> is order by cosine.")
    states = models.BinaryField(
        null=True,
        help_text="Of a message the states of its tokens, by memoryproject.ai.token_states;"
        " NULL: the model has none, or they are still to be made.",
    )

    class Meta(Searchable.Meta):
        constraints = [
            unique("indexing_vector_one_a_model", "tenant unit model"),
            check(
                "indexing_vector_dim_true",
                Q(
                    dim=Func(
                        F("embedding"), function="vector_dims", output_field=models.IntegerField()
                    )
                ),
            ),
        ]
        indexes = [
            models.Index(
                *owned("shelf", "model", "conversation"),
                include=["user_scope", "unit", "memory", "category", "dim", "embedding"],
                condition=Q(invalid_at=None, dim__lte=COVERED_DIM),
                name="indexing_vector_of_owner",
            ),
            models.Index(
                *owned("shelf", "model", "conversation"),
                condition=Q(invalid_at=None, dim__gt=COVERED_DIM),
                name="indexing_vector_wide_of_owner",
            ),
            index("indexing_vector_headline", "memory model", Q(kind=UnitKind.EPISODE)),
            models.Index(*owned("conversation", "valid_at"), name="indexing_vector_time_of_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.id}"


class ShelfSize(TenantModel):
    """Size of what is active in a conversation, a user's scope, or both, by memory kind.

    The statistics of BM25. A trigger on `SearchUnit` keeps them, whoever writes there. A
    conversation's own row counts all of its units; its rows with a user's scope count the part that
    is found in that scope.
    """

    conversation = TenantForeignKey("episodic.Conversation", null=True, db_index=False)
    user_scope = models.UUIDField(null=True, help_text=USER_SCOPE_HELP)
    shelf = models.CharField(max_length=8, choices=MemoryKind.choices)
    units = models.BigIntegerField()
    lexemes = models.BigIntegerField(help_text="Sum of the units' lengths.")
    counted = models.BooleanField(
        default=False, help_text="Whether its words are counted: from 2,000 units on."
    )

    class Meta(TenantModel.Meta):
        constraints = [
            unique_null("indexing_shelf_size_one_a_shelf", "tenant conversation shelf user_scope")
        ]

    def __str__(self) -> str:
        return f"{self.shelf}: {self.units}"


class WordCount(TenantModel):
    """Number of units in which a word occurs, for a large conversation or user.

    Smaller ones are scanned instead. The trigger of `ShelfSize` keeps these too.
    """

    conversation = TenantForeignKey("episodic.Conversation", null=True, db_index=False)
    user_scope = models.UUIDField(null=True, help_text=USER_SCOPE_HELP)
    shelf = models.CharField(max_length=8, choices=MemoryKind.choices)
    slot = models.IntegerField(help_text="Of the lexeme, in `SearchUnit.words`.")
    units = models.IntegerField()

    class Meta(TenantModel.Meta):
        constraints = [
            unique_null(
                "indexing_word_count_one_a_word", "tenant conversation shelf slot user_scope"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.slot}: {self.units}"


class VectorIndex(TenantModel):
    """An approximate index over the vectors of one large scope, built by command.

    Without one a scope is scanned exactly, through `indexing_vector_of_owner`.
    """

    conversation = TenantForeignKey(
        "episodic.Conversation",
        null=True,
        db_index=False,
        help_text="The scope, where it is a conversation.",
    )
    user_scope = models.UUIDField(
        null=True,
        help_text="The scope, where it is a user's. Without either the scope is the whole tenant.",
    )
    shelf = models.CharField(max_length=8, choices=MemoryKind.choices)
    model = models.CharField(max_length=200)
    dim = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=63, help_text="Name of the index in PostgreSQL.")
    recall = models.FloatField(
        null=True, help_text="Recall of the 100 nearest, when it was built: 0.0 to 1.0."
    )
    built_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        verbose_name_plural = "vector indexes"
        constraints = [
            unique_null(
                "indexing_vector_index_one_a_scope", "tenant conversation shelf model user_scope"
            ),
            # PostgreSQL ensures it across tenants, since index names are unique.
            unique("indexing_vector_index_name", "tenant name"),
        ]

    def __str__(self) -> str:
        return self.name
