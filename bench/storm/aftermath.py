"""After the storm: let the work end, end the processes, and count who does not go."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import psycopg

from bench.storm import database
from bench.storm.client import Client
from bench.storm.field import Storm, tell
from bench.storm.processes import Process, find_children, find_marked, look_up, send
from bench.storm.recovery import tell_runs
from memoryproject import embedded

FLUSH_WITHIN_S = 60.0
LEAVE_WITHIN_S = 5.0
LOOK_AGAIN_S = 0.5
TELL_EVERY_S = 5.0
LAST_LINES, LINE_AT_MOST = 4, 240
OPEN = (
    "SELECT (SELECT count(*) FROM jobs_job WHERE state IN ('ready', 'running'))"
    " + (SELECT count(*) FROM episodic_message"
    " WHERE episode_id IS NULL AND quarantined_by_id IS NULL)"
)


def wait_until_quiet(storm: Storm) -> float | None:
    """Flush every conversation and wait until nothing is open.

    Returns how many seconds that took, None where it was not quiet in time.
    """
    started = time.monotonic()
    until = started + storm.options.quiet_within_s
    _flush_all(storm, until=min(until, started + FLUSH_WITHIN_S))
    told_at = started
    while time.monotonic() < until:
        if _is_quiet(storm.data_dir):
            return time.monotonic() - started
        if time.monotonic() - told_at > TELL_EVERY_S:
            storm.tell_progress("calm")
            told_at = time.monotonic()
        time.sleep(LOOK_AGAIN_S)
    return None


def _flush_all(storm: Storm, *, until: float) -> None:
    known = {posting.conversation for posting, _ in storm.ledger.all_accepted()}
    for place in storm.places:
        client = Client(port=place.port, key=place.key)
        body = {"conversation_id": str(place.conversation)}
        while place.conversation in known and time.monotonic() < until:
            if client.post("flush", body).status == 202:
                break
            time.sleep(LOOK_AGAIN_S)
        client.close()


def tell_logs(storm: Storm) -> None:
    """Say what the workers said last: a test's folder is gone when somebody looks for it."""
    for service in storm.workers:
        for line in service.log.read_text(errors="replace").splitlines()[-LAST_LINES:]:
            tell(f"{service.name}: {line[:LINE_AT_MOST]}")


def write_runs(storm: Storm) -> None:
    """Write down each run that was cut off, for a folder that is kept."""
    rows = tell_runs(storm.jobs.runs, storm.diary.read())
    lines = [json.dumps(row) + "\n" for row in rows]
    (storm.data_dir / "cut_off.jsonl").write_text("".join(lines), encoding="utf-8")


def count_done(data_dir: Path) -> int:
    """Return how many jobs are done."""
    with database.connect(data_dir) as connection:
        row = connection.execute("SELECT count(*) FROM jobs_job WHERE state = 'done'").fetchone()
    assert row is not None
    return int(row[0])


def _is_quiet(data_dir: Path) -> bool:
    try:
        with database.connect(data_dir) as connection:
            row = connection.execute(OPEN).fetchone()
    except psycopg.Error:
        return False
    return row is not None and row[0] == 0


def end_orphans(storm: Storm) -> int:
    """Wait for what should end by itself, kill what does not, and return how much that was."""
    until = time.monotonic() + LEAVE_WITHIN_S
    while (left := _find_orphans(storm)) and time.monotonic() < until:
        time.sleep(LOOK_AGAIN_S)
    for process in left:
        send(process, signal.SIGKILL)
    return len(left)


def _find_orphans(storm: Storm) -> list[Process]:
    """Return what is left of the storm, but for the model server and PostgreSQL.

    PostgreSQL has our mark where a worker has started it.
    """
    spared = {storm.model.process} if storm.model is not None else set()
    postmaster = look_up(embedded.find_running(storm.data_dir) or 0)
    if postmaster is not None:
        spared |= {postmaster, *find_children(postmaster)}
    return [
        process
        for process in find_marked(f"MEMORY_DATA_DIR={storm.data_dir}")
        if process not in spared
    ]
