"""Lists and counts the answers that a memory was served in."""

from django.conf import settings

from memoryproject.tenancy.models import TenantModel
from retrieval.models import RetrievalHit


def list_servings(memory: TenantModel, *, at_most: int) -> list[RetrievalHit]:
    """Return the newest answers that served a memory. Uses index: retrieval_hit_by_memory."""
    hits = RetrievalHit.objects.of(memory.tenant).filter(memory_id=memory.pk)
    return list(hits.select_related("retrieval__asked_by").order_by("-id")[:at_most])


def count_servings(memory: TenantModel) -> int:
    """Return how many answers served a memory, up to 10,000."""
    hits = RetrievalHit.objects.of(memory.tenant).filter(memory_id=memory.pk)
    return hits[: settings.COUNTED_AT_MOST].count()
