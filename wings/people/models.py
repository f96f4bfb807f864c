"""Tables of people, their names and ids, and merges."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from memoryproject.database.constraints import check, index, unique
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import TenantModel


class Person(TenantModel):
    """A person, with the names and ids by which a tenant's agents know them.

    A merge moves no rows: it states that two people are the same, and can be undone.
    """

    name = models.TextField(help_text="What people call them.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        verbose_name_plural = "people"

    def __str__(self) -> str:
        return self.name


class Alias(TenantModel):
    """A name or an id of a person; unique among people."""

    class Kind(models.TextChoices):
        USER = "user", "user_id"
        SPEAKER = "speaker", "speaker's name"

    person = TenantForeignKey(Person, db_index=False)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    value = models.TextField(help_text="As conversations, notes or messages have it.")

    class Meta(TenantModel.Meta):
        verbose_name_plural = "aliases"
        constraints = [unique("people_alias_of_one_person", "tenant kind value")]
        indexes = [index("people_alias_by_person", "tenant person")]

    def __str__(self) -> str:
        return self.value


class Merge(TenantModel):
    """A merge of two people; kept when it is undone."""

    person = TenantForeignKey(Person, db_index=False, help_text="The person who was merged.")
    into = TenantForeignKey(Person, db_index=False, help_text="The person they were merged into.")
    actor = models.CharField(max_length=200, help_text="Who did it: a key, a person.")
    reason = models.TextField(help_text="Why, in their own words.")
    created_at = models.DateTimeField(db_default=Now())
    undone_at = models.DateTimeField(null=True, help_text="NULL: it is in effect.")
    undone_by = models.CharField(max_length=200, blank=True)
    undone_because = models.TextField(blank=True)

    class Meta(TenantModel.Meta):
        constraints = [
            unique("people_merge_holds_once", "tenant person", Q(undone_at=None)),
            check("people_merge_of_two", ~Q(person=F("into"))),
        ]
        indexes = [index("people_merge_by_into", "tenant into")]

    def __str__(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M} by {self.actor}"
