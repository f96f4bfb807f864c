"""What is for curators and auditors on the front page: the queue, quality, cases and reveals."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.timesince import timesince

from console.charts import Series
from console.home.metrics import Span, join_spans, span_unit
from console.home.sections import Tile, Widget, draw_spans, list_retired
from console.queue.items import Item
from episodic.models import Conversation, Reveal
from episodic.naming import render_name, with_names
from memoryproject.tenancy.models import Tenant
from retrieval.receipts import count_served
from semantic.models import Changeset, Fact

WRONG_AT_MOST = 1_000
"""Of the facts declared wrong, the latest: these are looked up among the answers."""
ROWS_AT_MOST = 6


def render_queue(tenant: Tenant, items: Sequence[Item], now: datetime) -> Tile:
    """Return how much is to be decided on, and since when."""
    oldest = min((item.row.created_at for item in items), default=now)
    return Tile(
        "Review queue",
        f"{len(items):,}",
        f"{reverse('console:review_queue')}?{urlencode({'tenant': tenant.name})}",
        note=f"to decide on, the oldest for {timesince(oldest, now)}" if items else "",
        tone="warn" if items else "good",
    )


def render_quality(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Iterator[Widget]:
    """Yield how many facts people declared wrong, corrected, and how many had been served by then.

    Uses index: semantic_fact_closed.
    """
    whole = join_spans(spans)
    wrong = Fact.objects.of(tenant).filter(
        invalid_at__gte=whole.start,
        invalid_at__lt=whole.end,
        invalidated_because=Fact.Because.WRONG,
    )
    rows = list(
        wrong.order_by("-invalid_at", "-id").values_list("id", "invalid_at", "superseded_by")[
            :WRONG_AT_MOST
        ]
    )
    served = count_served(tenant, [row_id for row_id, _, _ in rows])
    step = spans[0].end - spans[0].start
    before, never = [0] * len(spans), [0] * len(spans)
    for row_id, at, _ in rows:
        assert at is not None  # by the filter
        (before if row_id in served else never)[(at - spans[0].start) // step] += 1
    corrected = sum(newer is not None for _, _, newer in rows)
    address = list_retired(tenant, whole) + "&invalidated_because=wrong"
    yield Tile("Declared wrong", f"{len(rows):,}", address, note=f"{corrected:,} corrected")
    yield Tile(
        "Served, then wrong",
        f"{sum(before):,}",
        address,
        note=f"{round(100 * sum(before) / len(rows))} % of them" if rows else "",
        tone="bad" if sum(before) else "good",
    )
    yield draw_spans(
        "wrong",
        f"Facts declared wrong, a {span_unit(spans)}",
        spans,
        [Series("served before", before, "red"), Series("never served", never, "grey")],
        stacked=True,
        links=[list_retired(tenant, span) for span in spans],
    )


def list_audit(tenant: Tenant, now: datetime) -> dict[str, Any]:
    """Return who had messages unmasked of late, and what was changed because of a case."""
    reveals = list(Reveal.objects.of(tenant).order_by("-id")[:ROWS_AT_MOST])
    ids = {row.conversation_id for row in reveals}
    homes = with_names(Conversation.objects.of(tenant).filter(id__in=ids)).in_bulk()
    cases = Changeset.objects.of(tenant).filter(case_id__isnull=False).order_by("-id")
    return {
        "reveals": [
            (row, render_name(homes[row.conversation_id], may_read=False), row.until > now)
            for row in reveals
        ],
        "cases": list(cases[:ROWS_AT_MOST]),
    }
