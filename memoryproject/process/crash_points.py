"""Named points in the code at which a test kills the process.

A crash between any two statements must lose nothing and do nothing twice. These are the points
where that could go wrong; a test crashes at each of them.
"""

import os
import signal
from enum import StrEnum


class Point(StrEnum):
    """A point in the code."""

    MESSAGES_INSERTED = "messages inserted"
    MESSAGES_STORED = "messages committed, the client not told"
    JOB_INSERTED = "a job inserted, nobody woken"
    CLAIM_WRITTEN = "a claim written"
    CLAIMED = "a claim committed"
    WINDOW_READ = "a window read"
    WINDOW_EMBEDDED = "its lines embedded"
    WINDOW_DIVIDED = "its segments known"
    WINDOW_PLANNED = "its episodes planned"
    WINDOW_LOCKED = "the conversation locked for its episodes"
    EPISODES_ANNOUNCED = "wings told of episodes"
    EPISODE_INSERTED = "episodes inserted"
    EPISODE_FILLED = "an episode's messages taken from the window"
    EPISODES_INDEXED = "episodes made findable"
    EPISODES_READ = "fresh episodes and facts read"
    FACTS_PROPOSED = "changes proposed"
    FACTS_EMBEDDED = "changes embedded"
    EPISODES_MARKED = "episodes marked as drawn from"
    FACT_APPLIED = "one change applied"
    SERVED_READ = "what was served read"
    SERVED_JUDGED = "what was served judged"
    REVIEWS_APPLIED = "reviews applied"
    CALL_OPENED = "a model call on record, the question not put"
    CALL_ANSWERED = "the model has answered, nothing kept"
    CALL_KEPT = "the answer kept"
    VECTORS_MADE = "missing vectors made"
    VECTORS_WRITTEN = "missing vectors written"
    MESSAGE_SET_ASIDE = "a message set aside"
    EPISODE_SET_ASIDE = "an episode set aside"
    EFFECTS_WRITTEN = "all effects written, the lease not checked"
    LEASE_CHECKED = "the lease checked, nothing committed"
    COMMITTED = "the run committed"
    RELEASING = "a failure known, the job not given back"
    RELEASED = "the job given back"
    ERASURE_ASKED = "an erasure on record, nothing erased"
    PAGES_REMOVED = "all of it erased, the erasure not done"


_armed: dict[Point, int] = {}
"""Passes left until the process is killed, by crash point."""


def arm(point: Point, *, passage: int) -> None:
    """Kill this process at the given pass of a point, counted from 1. For tests."""
    _armed[point] = passage


def pass_point(point: Point) -> None:
    """Note that the code has reached a point."""
    if not _armed or point not in _armed:
        return
    _armed[point] -= 1
    if _armed[point] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
