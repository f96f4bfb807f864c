"""The verdict: one line of JSON, and a few lines for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.storm import oracle
from bench.storm.field import Storm, tell
from bench.storm.oracle import Paid, Violation, Wait
from bench.storm.recovery import (
    count_unexplained,
    find_quantile,
    measure_recoveries,
)
from bench.storm.schedule import Deed

Results = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found when the storm was over; `quiet_s` None: it was not quiet in time."""

    stormed_s: float
    done_in_storm: int
    """Jobs that were finished while it lasted: a storm in which nothing works proves little."""
    quiet_s: float | None
    orphans: int
    stubborn: tuple[str, ...]
    """Services that did not end when told to."""
    standing: dict[str, int]
    waits: tuple[Wait, ...]
    """The flushes beside a tenant that is a burden, the shortest first."""
    paid: Paid | None
    violations: tuple[Violation, ...]


def judge(storm: Storm, outcome: Outcome) -> tuple[Violation, ...]:
    """Return every violation: those of the rows, and those that only the storm can see."""
    found = list(outcome.violations)
    if outcome.quiet_s is None:
        found.append(Violation("i4_not_quiet_in_time", 1, ()))
    if storm.ledger.contradictions:
        found.append(Violation("i5_replay_told_otherwise", storm.ledger.contradictions, ()))
    unanswered = len(storm.ledger.sent) - len(storm.ledger.accepted)
    if unanswered:
        found.append(Violation("i5_never_accepted", unanswered, ()))
    found += oracle.check_statuses(storm.ledger.statuses)
    if outcome.paid is not None:
        found += oracle.check_paid(outcome.paid)
    if outcome.orphans:
        found.append(Violation("i6_left_behind", outcome.orphans, ()))
    found += oracle.check_waits(outcome.waits)
    unexplained = count_unexplained(storm.jobs.runs, storm.diary.read())
    if storm.options.heavy and unexplained:
        found.append(Violation("i6_run_ended_by_nobody", unexplained, ()))
    return tuple(found)


def make_results(storm: Storm, outcome: Outcome) -> Results:
    """Return everything that is printed."""
    violations = judge(storm, outcome)
    options, diary = storm.options, storm.diary
    kills = diary.count_kills()
    return {
        "control": options.control,
        "ok": not violations,
        "kills": {"total": sum(kills.values()), **kills},
        "db_crashes": diary.count(Deed.CRASH),
        "freezes": diary.count(Deed.FREEZE),
        "purges": diary.count(Deed.PURGE),
        "accepted": storm.ledger.count_accepted(),
        "duplicates_sent": storm.ledger.duplicates_sent,
        "lost": oracle.count_rules(violations, oracle.LOST, oracle.NOWHERE),
        "duplicated": oracle.count_rules(violations, *oracle.TWICE),
        "gaps": oracle.count_rules(violations, *oracle.GAPS),
        "stuck": oracle.count_rules(violations, *oracle.STUCK),
        "orphans": outcome.orphans,
        "standing": outcome.standing,
        "recovery_s": _tell_recoveries(storm),
        "restart_s": _tell_restarts(storm),
        "quiet_after_s": _round(outcome.quiet_s),
        "flush_beside_s": _tell_quantiles([w.seconds for w in outcome.waits if w.runs == 1]),
        "flush_hit_s": _tell_quantiles([w.seconds for w in outcome.waits if w.runs > 1]),
        "longest_overdue_s": _round(storm.jobs.runs.longest_overdue_s),
        "model": _tell_model(storm, outcome.paid),
        "http": dict(sorted(storm.ledger.statuses.items())),
        "stubborn": list(outcome.stubborn),
        "violations": [{"invariant": one.invariant, **asdict(one)} for one in violations],
        "done_in_storm": outcome.done_in_storm,
        "seed": options.seed,
        "storm_s": _round(outcome.stormed_s),
    }


def _tell_recoveries(storm: Storm) -> Results:
    """Return how soon the work went on that a deed had cut off, by deed."""
    events, runs = storm.diary.read(), storm.jobs.runs
    deeds = (Deed.KILL, Deed.CRASH, Deed.FREEZE)
    told = {deed.value: _tell_quantiles(measure_recoveries(runs, events, deed)) for deed in deeds}
    return {
        **told,
        "unexplained": count_unexplained(runs, events),
        "lease": runs.lease_s,
    }


def _tell_restarts(storm: Storm) -> Results:
    """Return how soon a cluster was whole again, of kills that no other followed meanwhile."""
    restarts = storm.trees.restarts
    alone = [restart.seconds for restart in restarts if restart.kills == 1]
    return {**_tell_quantiles(alone), "hit_again_meanwhile": len(restarts) - len(alone)}


def _tell_quantiles(seconds: Sequence[float]) -> Results:
    return {
        "p50": _round(find_quantile(seconds, 0.5)),
        "p95": _round(find_quantile(seconds, 0.95)),
        "max": _round(max(seconds, default=None)),
        "count": len(seconds),
    }


def _tell_model(storm: Storm, paid: Paid | None) -> Results | None:
    if storm.model is None:
        return None
    counts = storm.model.count()
    told = {**asdict(paid), "extra_share": _round(paid.extra_share)} if paid else {}
    return {**counts, **told}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def tell_verdict(results: Results) -> None:
    """Say in words how it went."""
    for violation in results["violations"]:
        samples = "; ".join(violation["samples"])
        tell(
            f"{violation['invariant']} broken, {violation['rule']}: {violation['count']} {samples}"
        )
    control = results["control"]
    if control is None:
        tell("The oracle holds." if results["ok"] else "The oracle does not hold.")
    elif results["ok"]:
        tell(f"The control {control} was not noticed: the storm proves nothing.")
    else:
        broken = sorted({violation["invariant"] for violation in results["violations"]})
        tell(f"The control {control} fails as it must: {', '.join(broken)}.")
