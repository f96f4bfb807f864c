"""What the front page tells of memory, facts, answers, jobs and money: tiles, charts, lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from console import figures
from console.charts import Chart, Series
from console.figures import Span, made_between, say_capped, say_sum
from console.home_shapes import Listed, Part, Spend, Tile, draw
from episodic.models import Episode, Message
from jobs import usage
from jobs.models import Job, LLMCall, State
from memoryproject import admin_values as values
from memoryproject.tenancy.models import Tenant
from retrieval import pace
from retrieval.models import Retrieval
from semantic.models import Fact

ROWS_AT_MOST = 8
REASONS = {
    Fact.Because.SUPERSEDED.value: "blue",
    Fact.Because.WRONG.value: "red",
    Fact.Because.REVERTED.value: "orange",
    Fact.Because.ERASED.value: "grey",
    Fact.Because.WAITING.value: "grey",
}
"""Why facts are held no more, with the colour of each."""


def tell_memory(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Part:
    """Tell how many messages and episodes came."""
    part = Part()
    for model, title in ((Message, "Messages"), (Episode, "Episodes")):
        counts = figures.count_made(model, tenant, spans)
        whole = made_between(model, tenant, spans[0].start, spans[-1].end)
        part.tiles.append(Tile(title, say_sum(counts), whole))
        part.has_news |= any(counts)
        part.charts.append(
            draw(
                key=title.lower(),
                title=f"{title} a {_unit(spans)}",
                kind="bar",
                labels=[span.label for span in spans],
                series=[Series(title, _capped(counts))],
                links=[span.list_of(model, tenant) for span in spans],
            )
        )
    return part


def tell_facts(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Part:
    """Tell which facts came, of which kinds, and which are held no more and by whose doing."""
    new = figures.count_made(Fact, tenant, spans)
    closed = figures.count_closed(tenant, spans)
    closings = figures.find_closings(tenant, spans)
    gone = sum(map(sum, closed.values()))
    cut = gone >= figures.COUNTED_AT_MOST
    start, end = spans[0].start, spans[-1].end
    waiting = figures.count_waiting(tenant)
    return Part(
        tiles=[
            Tile("New facts", say_sum(new), made_between(Fact, tenant, start, end)),
            Tile(
                "No longer held", f"{gone:,}{'+' if cut else ''}", list_closed(tenant, start, end)
            ),
            Tile(
                "Waiting for a curator",
                say_capped(waiting),
                f"{values.list_address(Fact, tenant__id=tenant.id)}&state=waiting",
                note="what would steer the assistant" if waiting else "",
                tone="warn" if waiting else "good",
            ),
        ],
        charts=[
            draw(
                key="facts",
                title=f"New facts a {_unit(spans)}",
                kind="bar",
                labels=[span.label for span in spans],
                series=[Series("New", _capped(new), colour="green")],
                links=[span.list_of(Fact, tenant) for span in spans],
            ),
            _draw_categories(tenant, spans),
            _draw_closed(tenant, spans, closed, cut=cut),
        ],
        lists=[_list_closings(tenant, spans, closings), _list_actors(closings)],
        has_news=any(new) or bool(gone) or bool(waiting),
    )


def _draw_categories(tenant: Tenant, spans: Sequence[Span]) -> Chart:
    by_category = figures.facts_by_category(tenant, spans)
    start, end = spans[0].start, spans[-1].end
    counted = sum(map(sum, by_category.values()))
    latest = f" (the latest {counted:,})" if counted >= figures.COUNTED_AT_MOST else ""
    return draw(
        key="categories",
        title=f"Facts of this time by category{latest}",
        kind="bar",
        stacked=True,
        labels=list(by_category),
        series=[
            Series("held", [held for held, _ in by_category.values()], colour="green"),
            Series("no longer held", [gone for _, gone in by_category.values()], colour="grey"),
        ],
        links=[
            made_between(Fact, tenant, start, end, category__exact=category)
            for category in by_category
        ],
    )


def _draw_closed(
    tenant: Tenant, spans: Sequence[Span], closed: dict[str, list[int]], *, cut: bool
) -> Chart:
    latest = f" (the latest {figures.COUNTED_AT_MOST:,})" if cut else ""
    return draw(
        key="closed",
        title=f"Facts held no longer, by reason, a {_unit(spans)}{latest}",
        kind="bar",
        stacked=True,
        labels=[span.label for span in spans],
        series=[
            Series(because, counts, colour=REASONS[because]) for because, counts in closed.items()
        ],
        links=[list_closed(tenant, span.start, span.end) for span in spans],
    )


def list_closed(tenant: Tenant, start: datetime, end: datetime) -> str:
    """Return the address of the list of facts that ceased to be held in a span of time."""
    return values.list_address(Fact, tenant__id=tenant.id) + (
        f"&invalid_at__gte={start:%Y-%m-%dT%H:%M:%SZ}&invalid_at__lt={end:%Y-%m-%dT%H:%M:%SZ}"
    )


def _list_closings(
    tenant: Tenant, spans: Sequence[Span], closings: Sequence[figures.Closing]
) -> Listed:
    return Listed(
        title="Held no longer, the latest",
        headers=["fact", "why", "by", "when"],
        rows=[
            [
                values.link(one.fact),
                one.because,
                values.link(one.changeset, one.actor) if one.changeset else one.actor,
                values.moment(one.fact.invalid_at),
            ]
            for one in closings[:ROWS_AT_MOST]
        ],
        empty="Nothing was invalidated in this time.",
        more=list_closed(tenant, spans[0].start, spans[-1].end) if closings else "",
    )


def _list_actors(closings: Sequence[figures.Closing]) -> Listed:
    counts = Counter((one.actor, one.because) for one in closings)
    actors = Counter(one.actor for one in closings)
    reasons = [because for because in REASONS if any(one.because == because for one in closings)]
    cut = figures.ACTORS_OF_AT_MOST
    return Listed(
        title="Who ended facts" + (f" (the latest {cut})" if len(closings) == cut else ""),
        headers=["who", *reasons],
        rows=[
            [actor, *(f"{counts[actor, because]:,}" for because in reasons)]
            for actor, _ in actors.most_common(ROWS_AT_MOST)
        ],
        empty="Nobody, in this time.",
    )


def tell_answers(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Part:
    """Tell how many questions were answered, and how fast."""
    paces = pace.measure_pace(
        tenant,
        spans=[(span.start, span.end) for span in spans],
        at_most=figures.COUNTED_AT_MOST + 1,
    )
    (whole,) = pace.measure_pace(
        tenant, spans=[(spans[0].start, spans[-1].end)], at_most=figures.COUNTED_AT_MOST
    )
    counts = [one.answers for one in paces]
    links = [span.list_of(Retrieval, tenant) for span in spans]
    everything = made_between(Retrieval, tenant, spans[0].start, spans[-1].end)
    p95 = "–" if whole.p95_ms is None else f"{whole.p95_ms:,} ms"
    note = "" if whole.p50_ms is None else f"half within {whole.p50_ms:,} ms"
    labels = [span.label for span in spans]
    return Part(
        tiles=[
            Tile("Answers", say_sum(counts), everything),
            Tile("95 % answered within", p95, everything, note=note),
        ],
        charts=[
            draw(
                key="answers",
                title=f"Answers a {_unit(spans)}",
                kind="bar",
                labels=labels,
                series=[Series("Answers", _capped(counts), colour="blue")],
                links=links,
            ),
            draw(
                key="latency",
                title="Time from a question to its answer",
                kind="line",
                labels=labels,
                series=[
                    Series("p95", [one.p95_ms for one in paces], colour="orange"),
                    Series("p50", [one.p50_ms for one in paces], colour="grey"),
                ],
                links=links,
                unit="ms",
            ),
        ],
        has_news=any(counts),
    )


def tell_jobs(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Part:
    """Tell which work waits, runs and died."""
    counts = figures.count_jobs(tenant)
    dead = Job.objects.of(tenant).filter(state=State.DEAD).order_by("-id")[:ROWS_AT_MOST]

    def link(state: State) -> str:
        return values.list_address(Job, state=state.value, tenant__id=tenant.id)

    return Part(
        tiles=[
            Tile(
                "Open jobs",
                say_sum([counts[State.READY], counts[State.RUNNING]]),
                f"{values.list_address(Job, tenant__id=tenant.id)}&state__in=ready,running",
                note=f"{say_capped(counts[State.RUNNING])} running",
            ),
            Tile(
                "Dead jobs",
                say_capped(counts[State.DEAD]),
                link(State.DEAD),
                tone="bad" if counts[State.DEAD] else "good",
            ),
        ],
        lists=[
            Listed(
                title="Dead jobs",
                headers=["job", "failed with", "died"],
                rows=[
                    [
                        values.link(job, job.get_kind_display()),
                        job.error_class or "–",
                        f"{values.duration(now - job.finished_at)} ago" if job.finished_at else "–",
                    ]
                    for job in dead
                ],
                empty="None: everything that was begun got done, or is still tried.",
                more=link(State.DEAD) if counts[State.DEAD] else "",
            )
        ]
        if counts[State.DEAD]
        else [],
        has_news=any(counts.values()),
    )


def tell_degraded(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Part:
    """Tell how often the offline engine stood in for a model that failed."""
    work = figures.degraded_work(tenant, spans)
    total = sum(count for _, count, _ in work)
    most = max(work, key=lambda one: one[1])
    told = ", ".join(f"{count:,} {title}" for title, count, _ in work if count)
    return Part(
        tiles=[
            Tile(
                "Made without the model",
                f"{total:,}",
                most[2],
                note=told or "nothing was degraded",
                tone="warn" if total else "good",
            )
        ],
        has_news=bool(total),
    )


def tell_spend(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Part:
    """Tell what the language model cost, and how far today's budget goes."""
    today = usage.measure_usage(tenant, days=1, now=now)
    days = usage.spend_by_day(tenant, since=spans[0].start)
    costs = [
        sum(
            (one.cost for one in days if span.start.date() <= one.day < span.end.date()), Decimal(0)
        )
        for span in spans
    ]
    calls = sum(one.calls for one in days)
    charts = [
        draw(
            key="spend",
            title=f"What the language model cost a {_unit(spans)}",
            kind="bar",
            labels=[span.label for span in spans],
            series=[Series("Cost", [float(cost) for cost in costs], colour="orange")],
            links=[span.list_of(LLMCall, tenant) for span in spans],
        )
    ]
    return Part(
        charts=charts,
        spend=Spend(
            today.spent_today,
            today.budget,
            today.parked_jobs,
            sum(costs, Decimal(0)),
            calls,
            made_between(LLMCall, tenant, spans[0].start, spans[-1].end),
        ),
        has_news=bool(calls),
    )


def _unit(spans: Sequence[Span]) -> str:
    return "day" if (spans[0].end - spans[0].start).days == 1 else "week"


def _capped(counts: Sequence[int]) -> list[int]:
    return [min(count, figures.COUNTED_AT_MOST) for count in counts]
