"""Records of reviews of episodes, of unmasked conversations, and of erased keys."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from episodic.engines import Rating
from episodic.models.talk import Conversation, Episode
from jobs.models import Job
from memoryproject.database.constraints import check, choices_of, index, unique, values_of
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import TenantModel


class Review(TenantModel):
    """How one job rated a served episode, and what that did to its FSRS state."""

    job = TenantForeignKey(Job)
    episode = TenantForeignKey(Episode)
    retrieval_id = models.UUIDField(help_text="The receipt of the answer that served it.")
    rating = models.CharField(max_length=8, choices=choices_of(Rating))
    engine = models.CharField(max_length=40)
    degraded = models.BooleanField(default=False)
    stability_before = models.FloatField()
    stability_after = models.FloatField()
    difficulty_before = models.FloatField()
    difficulty_after = models.FloatField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints = [
            unique("episodic_review_once_a_job", "tenant job episode"),
            check("episodic_review_rating_known", Q(rating__in=values_of(Rating))),
        ]

    def __str__(self) -> str:
        return f"{self.rating} for {self.episode_id}"


class Reveal(TenantModel):
    """Record that an auditor had the messages of a conversation unmasked."""

    conversation = TenantForeignKey(Conversation)
    person = models.CharField(max_length=150, help_text="The user's name in the admin.")
    reason = models.TextField(help_text="Reason, in the person's own words.")
    created_at = models.DateTimeField(db_default=Now())
    until = models.DateTimeField(help_text="Time from which on it is masked again.")

    class Meta(TenantModel.Meta):
        constraints = [check("episodic_reveal_has_reason", ~Q(reason=""))]
        indexes = [index("episodic_reveal_by_person", "person until")]

    def __str__(self) -> str:
        return f"{self.person} until {self.until:%Y-%m-%d %H:%M}"


class ErasedKey(TenantModel):
    """Record of an erased request's idempotency key: a retry of the request stores nothing.

    Holds a hash under the server's pepper, from which the key cannot be told.
    """

    digest = models.CharField(
        max_length=64, help_text="HMAC-SHA256 of the key and of what it was used for."
    )
    erased_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints = [unique("episodic_erased_key_once", "tenant digest")]

    def __str__(self) -> str:
        return f"erased {self.erased_at:%Y-%m-%d}"
