"""The storm names processes, blames deeds and bends answers as it says it does."""

from __future__ import annotations

import json
import uuid

import pytest

from bench.storm import answers, oracle
from bench.storm.events import Event
from bench.storm.options import read_options
from bench.storm.processes import Process
from bench.storm.recovery import (
    Row,
    Runs,
    count_unexplained,
    measure_recoveries,
)
from bench.storm.roles import Naming, Role
from bench.storm.schedule import Deed, draw_plan

JOB, TOKEN, CLUSTER = uuid.uuid4(), uuid.uuid4(), uuid.uuid4()


def look(state: str, *, now: float, started: float, lease_until: float, error: str = "") -> Row:
    return Row(JOB, "segment", state, TOKEN, error, started, lease_until, now, CLUSTER)


def kill(at: float, role: Role = Role.WORKER, cluster: uuid.UUID = CLUSTER) -> Event:
    return Event(at, Deed.KILL, role, "worker-1", str(cluster))


def test_the_children_of_a_sentinel_are_named_in_the_order_of_their_start() -> None:
    naming = Naming(workers=2, helpers=1)
    first, second, monitor, pusher, later = (Process(started=n, pid=n) for n in range(1, 6))
    assert naming.name([first]) == {first: Role.WORKER}
    named = naming.name([first, second, monitor, pusher])
    assert list(named.values()) == [Role.WORKER, Role.WORKER, Role.MONITOR, Role.PUSHER]
    assert naming.name([first, second, pusher, later])[later] is Role.MONITOR


def test_a_run_that_was_cut_off_took_until_the_next_claim() -> None:
    runs = Runs()
    runs.note([look("running", now=100.2, started=100, lease_until=130)])
    runs.note([look("running", now=120, started=100, lease_until=137)])
    runs.note([look("running", now=138.5, started=138, lease_until=168)])
    others = uuid.uuid4()
    events = [kill(99), kill(105), kill(108, Role.WEB), kill(109, cluster=others), kill(110)]
    # The lease was put off at 107: who was killed before that did not hold the job.
    assert measure_recoveries(runs, events, Deed.KILL) == [28]
    assert measure_recoveries(runs, events, Deed.CRASH) == []
    assert runs.lease_s == 30
    assert not count_unexplained(runs, events) and count_unexplained(runs, events[:1]) == 1


def test_a_job_that_its_holder_gave_back_was_not_cut_off() -> None:
    runs = Runs()
    runs.note([look("running", now=100.2, started=100, lease_until=130)])
    runs.note([look("ready", now=101, started=100, lease_until=130, error="ModelUnavailable")])
    runs.note([look("running", now=160, started=159, lease_until=189)])
    assert measure_recoveries(runs, [kill(100.5)], Deed.KILL) == []


def test_a_job_that_is_claimed_before_its_lease_ends_was_given_back() -> None:
    runs = Runs()
    runs.note([look("running", now=100.2, started=100, lease_until=130)])
    runs.note([look("running", now=101.2, started=101, lease_until=131)])
    assert not runs.cut_off()


def test_a_lease_that_is_ended_early_is_no_sign_of_life() -> None:
    runs = Runs()
    runs.note([look("running", now=100.2, started=100, lease_until=130)])
    runs.note([look("running", now=106.5, started=100, lease_until=106)])
    runs.note([look("running", now=109.5, started=109, lease_until=139)])
    assert measure_recoveries(runs, [kill(90), kill(105)], Deed.KILL) == [4]


def test_a_late_holder_is_seen() -> None:
    runs = Runs()
    runs.note([look("running", now=145, started=100, lease_until=130)])
    assert runs.longest_overdue_s == 15


def test_one_seed_means_one_plan_with_every_deed_in_it() -> None:
    options = read_options(["--kills=50", "--crashes=4", "--purges=3", "--freezes=2"])
    plan = draw_plan(options)
    assert plan == draw_plan(options)
    counts = {deed: sum(planned.deed is deed for planned in plan) for deed in Deed}
    assert counts == {Deed.KILL: 50, Deed.CRASH: 4, Deed.PURGE: 3, Deed.FREEZE: 2}
    assert all(planned.at_s <= options.seconds for planned in plan)
    assert {planned.role for planned in plan} == {*Role, None}


MATERIAL = {
    "segment": "\n".join(f"{n} [Mon 2026-03-02 09:00] Ana: I sail. Note N1-{n}." for n in range(7)),
    "consolidate": "Facts held:\nF1 [goal] Ana sails (since 2026-03-02)\n\nE1: A talk. It went."
    "\n36 [Mon 2026-03-02 09:00] Ana: I sail. Note N1-36.\n\nE2: More. On."
    "\n41 [Mon 2026-03-02 09:01] Ana: I row. Note N1-41.",
    "review": "Memories:\nE1: A talk. It went.\n   asked for with: sailing\n"
    "\nAfterwards:\nAna: No.",
}


def test_a_window_is_cut_into_halves_that_cover_it() -> None:
    said = answers.answer("segment", MATERIAL["segment"])["episodes"]
    assert [row["last"] for row in said] == [2, 6]


def test_each_episode_yields_a_fact_that_quotes_its_first_message() -> None:
    said = answers.answer("consolidate", MATERIAL["consolidate"])
    assert [row["msgs"] for row in said["new"]] == [[36], [41]]
    assert [(row["ref"], row["msgs"]) for row in said["update"]] == [("F1", [36])]
    assert "N1-36" in said["new"][0]["text"]


@pytest.mark.parametrize("purpose", MATERIAL)
@pytest.mark.parametrize("fault", answers.BENT)
def test_a_bent_answer_is_not_the_right_one(fault: str, purpose: str) -> None:
    right = answers.answer(purpose, MATERIAL[purpose])
    straight = json.dumps(right)
    bent = answers.bend(fault, purpose, right)
    assert bent != straight
    assert (straight in bent) is (fault == "prose")


def test_a_500_and_a_refused_message_are_undue_answers() -> None:
    fine = {"add_message 201": 5, "add_message 503": 2, "add_message none": 1, "flush 404": 1}
    assert not oracle.check_statuses(fine)
    (broken,) = oracle.check_statuses({**fine, "retrieve_memory/raw 500": 3})
    assert broken.count == 3 and broken.invariant == "I5"
    (refused,) = oracle.check_statuses({**fine, "add_messages 409": 1})
    assert refused.samples == ("add_messages answered 409",)


def test_a_job_that_keeps_its_place_under_an_error_has_no_lease() -> None:
    runs = Runs()
    kept = look("running", now=101, started=100, lease_until=103.4, error="SnapshotMoved")
    runs.note([kept])
    runs.note([look("running", now=110.1, started=110, lease_until=140)])
    assert runs.lease_s == 30 and not runs.cut_off()
