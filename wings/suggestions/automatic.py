"""Lets proven rules accept their own suggestions, up to a number per day, until undone.

Off by default. Each decision is a changeset of its own, with the rule as its actor.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import NOT_PROVIDED, Count, Q
from django.utils import timezone

from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import EventType, Notice
from semantic.curation import Act
from semantic.models import Suggestion
from wings.events.models import Event
from wings.events.outbox import NewEvent, announce
from wings.suggestions import suggestions, triage
from wings.suggestions.triage import AUTOMATIC, Rule

RULE_STOPPED = EventType(
    "rule.stopped",
    "a rule of the review queue stopped deciding by itself",
    Notice(
        "A rule stopped deciding by itself",
        "semantic.curate_fact",
        "console:review_queue",
        takes_id=False,
    ),
)
SETTING = "automatic_rules"
"""Key of a tenant's settings: suggestions per day that a rule may accept, by `kind:reason`."""
DECIDED_AT_LEAST, PERCENT_AT_LEAST = 20, 90
"""Number of a rule's suggestions that people must have decided, and the share they accepted."""
A_DAY_AT_MOST, AT_ONCE = 100, 10
UNDONE_AT_MOST = 2
"""Decisions undone in 30 days at which a rule stops until it is allowed again."""


@dataclass(frozen=True, slots=True)
class Automation:
    """State of a rule. `at_most` per day, allowed `since` then; 0: not allowed."""

    rule: Rule
    decided: int
    accepted: int
    at_most: int = 0
    since: datetime | None = None
    today: int = 0
    undone: int = 0

    @property
    def percent(self) -> int:
        """Percentage of its suggestions that people accepted."""
        return round(100 * self.accepted / self.decided) if self.decided else 0

    @property
    def is_proven(self) -> bool:
        """Whether it was right often enough to be allowed."""
        return self.decided >= DECIDED_AT_LEAST and self.percent >= PERCENT_AT_LEAST

    @property
    def is_stopped(self) -> bool:
        """Whether it is allowed but stopped, as people undid its decisions or its share fell."""
        return self.at_most > 0 and (self.undone >= UNDONE_AT_MOST or not self.is_proven)


def list_automations(
    tenant: Tenant, *, now: datetime, rates: triage.Rates | None = None
) -> list[Automation]:
    """Return the state of each rule that somebody has decided on, or allowed.

    `rates` is the result of `triage.measure_rules`, if the caller has it already.
    """
    rates = triage.measure_rules(tenant) if rates is None else rates
    names = {":".join(rule) for rule in rates} | set(tenant.settings.get(SETTING, {}))
    rules = [(kind, reason) for kind, _, reason in (name.partition(":") for name in sorted(names))]
    return [_measure(tenant, rule, rates.get(rule, (0, 0)), now) for rule in rules]


def has_stopped(tenant: Tenant, *, now: datetime, rates: triage.Rates | None = None) -> bool:
    """Return whether an allowed rule must stop."""
    if SETTING not in tenant.settings:
        return False
    return any(row.is_stopped for row in list_automations(tenant, now=now, rates=rates))


def _measure(tenant: Tenant, rule: Rule, rate: tuple[int, int], now: datetime) -> Automation:
    allowed = tenant.settings.get(SETTING, {}).get(":".join(rule))
    if not allowed:
        return Automation(rule, *rate)
    at_most, since = allowed[0], datetime.fromisoformat(allowed[1])
    own = Suggestion.objects.of(tenant).filter(decided_by__actor=AUTOMATIC + ":".join(rule))
    recent = max(since, now - timedelta(days=30))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    sums = own.aggregate(
        today=Count("id", filter=Q(decided_by__started_at__gte=midnight)),
        undone=Count("id", filter=Q(is_reopened=True, decided_by__started_at__gte=recent)),
    )
    return Automation(rule, *rate, at_most, since, sums["today"], sums["undone"])


def allow_rule(tenant: Tenant, rule: Rule, *, at_most: int, now: datetime) -> None:
    """Let a rule accept this many of its suggestions a day; 0: none.

    Raises:
        Problem: it is not proven, or the number is too high.
    """
    known = {row.rule: row for row in list_automations(tenant, now=now)}
    if not 0 <= at_most <= A_DAY_AT_MOST:
        raise Problem(f"A rule may decide on 0 to {A_DAY_AT_MOST} suggestions a day.")
    if at_most and (rule not in known or not known[rule].is_proven):
        raise Problem(
            f"A rule may decide once people have decided on {DECIDED_AT_LEAST} of its suggestions, "
            f"and accepted {PERCENT_AT_LEAST} % of them."
        )
    allowed = {**tenant.settings.get(SETTING, {})}
    allowed.pop(":".join(rule), None)
    if at_most:
        allowed[":".join(rule)] = (at_most, now.isoformat())
    tenant.change_setting(SETTING, allowed or NOT_PROVIDED)


def decide_alone(*, at_most: int) -> None:
    """Accept the suggestions that tenants' rules may accept now."""
    now = timezone.now()
    for tenant in Tenant.objects.filter(settings__has_key=SETTING).order_by("id"):
        for row in list_automations(tenant, now=now):
            if row.is_stopped:
                _announce_stop(tenant, row)
            room = 0 if row.is_stopped else min(row.at_most - row.today, at_most, AT_ONCE)
            if room > 0:
                _accept(tenant, row, room)


def _announce_stop(tenant: Tenant, row: Automation) -> None:
    """Announce once that a rule has stopped, since it was allowed."""
    name = ":".join(row.rule)
    announced = Event.objects.of(tenant).filter(type=RULE_STOPPED.code, webhook=None)
    if not announced.filter(created_at__gte=row.since, data__rule_id=name).exists():
        announce([NewEvent(RULE_STOPPED, {"rule_id": name})], tenant=tenant, scope=tenant.id)


def _accept(tenant: Tenant, row: Automation, at_most: int) -> None:
    kind, reason = row.rule
    rows = suggestions.find_suggestions(tenant).filter(kind=kind, reason=reason, decision="")
    words = f"Accepted by itself: of {row.decided} like it people accepted {row.percent} %."
    act = Act(tenant, AUTOMATIC + ":".join(row.rule), words)
    for suggestion_id in rows.order_by("id").values_list("id", flat=True)[:at_most]:
        with suppress(Problem):  # somebody was quicker
            suggestions.accept_suggestion(act=act, suggestion_id=suggestion_id)
