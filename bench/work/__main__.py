"""Measures background work: `python -m bench.work`.

How long a small flush waits behind another tenant's heavy ones, and how fast flushes get done
while a share of a language model's answers is bad: errors, silence, broken or wrong JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.storm import database, services
from bench.storm.client import HOST, Client
from bench.storm.options import Options, read_options

SERVING_WITHIN_S = 120.0
LOOK_EVERY_S = 0.5
HEAVY = ("He said “so on”. A.A.A. " * 4000)[:56_000]
"""Just below the most that a message may hold, 64 KB."""
MESSAGES = 40
FAULTS = ["429", "500", "503", "hang", "reset", "truncated"]


def main() -> None:
    """Measure what is asked for, and print a line a figure."""
    parser = argparse.ArgumentParser(prog="python -m bench.work", description=__doc__)
    parser.add_argument("--heavy", type=int, default=50, help="heavy flushes of another tenant; 50")
    parser.add_argument("--bad", type=int, nargs="*", default=[10, 30, 50], help="percent")
    parser.add_argument("--flushes", type=int, default=12, help="of 40 messages each; 12")
    parser.add_argument("--within", type=float, default=900, metavar="S", help="at most; 900")
    parser.add_argument("--kinds", nargs="+", default=FAULTS, help=f"of bad answers; {FAULTS}")
    given = parser.parse_args()
    if given.heavy:
        with running(["--llm=off", "--embeddings=local"]) as (own, other):
            measure_wait(own, other, heavy=given.heavy, within_s=given.within)
    for percent in given.bad:
        with running([f"--faults={percent / 100}", "--embeddings=local"], given.kinds) as (own, _):
            measure_throughput(own, percent, flushes=given.flushes, within_s=given.within)


def measure_wait(own: Worker, other: Worker, *, heavy: int, within_s: float) -> None:
    """Print how long a flush of two sentences takes behind heavy ones of another tenant."""
    for _ in range(heavy):
        other.flush([HEAVY])
    started = time.monotonic()
    job = own.flush(["I live in Oslo.", "I work as a baker."])
    done = own.wait([job], within_s=within_s)
    took = time.monotonic() - started
    write(f"behind {heavy} heavy flushes: {took:.1f} s, {len(done)} of 1 done")


def measure_throughput(own: Worker, percent: int, *, flushes: int, within_s: float) -> None:
    """Print how many flushes are done after a while, and how many a minute that is."""
    started = time.monotonic()
    jobs = [own.flush([f"N{at}-{line} is what I note." for line in range(MESSAGES)])
            for at in range(flushes)]  # fmt: skip
    done = own.wait(jobs, within_s=within_s)
    took = time.monotonic() - started
    pace = 60 * len(done) / took
    after = sum(at - started <= 300 for at in done)
    write(
        f"{percent} % bad answers: {len(done)} of {flushes} flushes in {took:.0f} s,"
        f" {pace:.1f} a minute; {after} within five minutes"
    )


def write(line: str) -> None:
    """Print a figure at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Worker:
    """A tenant at work: a key, and the server that takes it."""

    def __init__(self, *, port: int, key: str) -> None:
        self._client = Client(port=port, key=key)
        self._origin = f"http://{HOST}:{port}/api/v0"
        self._key = key

    def flush(self, lines: Sequence[str]) -> str:
        """Post lines as a new conversation and flush it; return the job's id."""
        conversation = str(uuid.uuid4())
        messages = [{"role": "user", "name": "Bo", "content": line} for line in lines]
        body = {"conversation_id": conversation, "messages": messages}
        added = self._client.post("add_messages", body)
        flushed = self._client.post("flush", {"conversation_id": conversation})
        if (added.status, flushed.status) != (201, 202):
            raise SystemExit(f"The server answered {added.status} and {flushed.status}.")
        return str(flushed.body["job_id"])

    def wait(self, jobs: Sequence[str], *, within_s: float) -> list[float]:
        """Return when each job was seen done, by the monotonic clock; those that were."""
        waiting, done = set(jobs), []
        until = time.monotonic() + within_s
        while waiting and time.monotonic() < until:
            time.sleep(LOOK_EVERY_S)
            ended = {job for job in waiting if self._read_state(job) == "done"}
            done += [time.monotonic()] * len(ended)
            waiting -= ended
        return done

    def _read_state(self, job: str) -> str:
        headers = {"Authorization": f"Bearer {self._key}"}
        request = urllib.request.Request(f"{self._origin}/jobs/{job}", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return str(json.load(answer)["state"])


@contextmanager
def running(wishes: Sequence[str], kinds: Sequence[str] = ()) -> Iterator[tuple[Worker, Worker]]:
    """Run web server, workers and model on an empty database; give two tenants at work."""
    data_dir = database.make_folder(None)
    options = read_options(["--supervisors=1", "--workers=2", *wishes])
    environment, _ = services.make_environment(options, data_dir)
    environment["MEMORY_LOG_LEVEL"] = "ERROR"
    logs = data_dir / "logs"
    logs.mkdir()
    model = services.ModelServer(
        options, environment=environment, log=logs / "model.log", kinds=kinds
    )
    environment |= services.name_model(options, model, dim=64)
    try:
        yield from _serve(options, environment, data_dir)
    finally:
        model.end()
        database.stop(data_dir)
        database.remove(data_dir)


def _serve(
    options: Options, environment: dict[str, str], data_dir: Path
) -> Iterator[tuple[Worker, Worker]]:
    database.start(data_dir)
    database.manage("migrate", "--verbosity=0", environment=environment)
    own, other = (
        database.manage("create_api_key", f"--tenant=work {number}", environment=environment)
        for number in range(2)
    )
    port = services.find_port()
    logs = data_dir / "logs"
    parts = [
        services.make_web(environment, port=port, logs=logs),
        *services.make_workers(options, environment, logs=logs),
    ]
    with services.kept(parts):
        services.wait_until_serving(parts, port=port, within_s=SERVING_WITHIN_S)
        yield Worker(port=port, key=own), Worker(port=port, key=other)


if __name__ == "__main__":
    main()
