"""One storm from an empty folder to the verdict."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from pathlib import Path

from bench.storm import aftermath, database, oracle, services
from bench.storm.events import Diary
from bench.storm.field import Place, Storm, tell
from bench.storm.heavy import Burden, Visitor, Waiter
from bench.storm.killer import Killer
from bench.storm.ledger import Ledger
from bench.storm.model import DIM
from bench.storm.options import STOCK_CLUSTER, Options
from bench.storm.oracle import Paid
from bench.storm.report import Outcome, Results, make_results
from bench.storm.schedule import Deed
from bench.storm.services import ModelServer
from bench.storm.watcher import JobWatcher, TreeWatcher
from bench.storm.writers import Writer

TENANTS = 2
SERVING_WITHIN_S = 120.0
TELL_EVERY_S = 5.0
LOOK_AGAIN_S = 0.2
WAITER = "storm waiter"


def run(options: Options) -> Results:
    """Make everything, let the storm pass, wait, judge, and clean up."""
    data_dir = database.make_folder(options.data_dir)
    keep = True
    try:
        results = _run_in(data_dir, options)
        keep = options.keep or not (results["ok"] or options.control)
        return results
    finally:
        database.stop(data_dir)
        if keep:
            tell(f"The folder is kept: {data_dir}")
        else:
            database.remove(data_dir)


def _run_in(data_dir: Path, options: Options) -> Results:
    logs = data_dir / "logs"
    logs.mkdir()
    environment = services.make_environment(options, data_dir)
    model = None
    try:
        if options.model_is_needed:
            model = ModelServer(options, environment=environment, log=logs / "model.log")
            environment |= services.name_model(options, model, dim=DIM)
        tell("Making the database …")
        database.start(data_dir)
        database.manage("migrate", "--verbosity=0", environment=environment)
        port = services.find_port()
        workers = services.make_workers(
            environment,
            logs=logs,
            count=options.supervisors,
            workers=options.workers,
            supervised=options.control != STOCK_CLUSTER,
        )
        diary = Diary()
        storm = Storm(
            options=options,
            data_dir=data_dir,
            places=make_places(options, environment, port=port),
            web=services.make_web(environment, port=port, logs=logs),
            workers=workers,
            model=model,
            ledger=Ledger(),
            diary=diary,
            jobs=JobWatcher(data_dir),
            trees=TreeWatcher(workers, diary),
            visitors=make_visitors(options, environment, port=port),
        )
        return make_results(storm, _let_pass(storm, port=port))
    finally:
        if model is not None:
            model.end()


def make_places(options: Options, environment: Mapping[str, str], *, port: int) -> list[Place]:
    """Make tenants with a key each, and spread the conversations over them."""
    keys = [_make_key(f"storm {number}", environment) for number in range(TENANTS)]
    return [
        Place(number % TENANTS, uuid.uuid4(), port, keys[number % TENANTS])
        for number in range(options.conversations)
    ]


def make_visitors(options: Options, environment: Mapping[str, str], *, port: int) -> list[Visitor]:
    """Return the tenant that is a burden, and the one that waits; with `heavy` alone."""
    if not options.heavy:
        return []
    return [
        kind(port=port, key=_make_key(name, environment), seed=options.seed)
        for kind, name in ((Burden, "storm burden"), (Waiter, WAITER))
    ]


def _make_key(tenant: str, environment: Mapping[str, str]) -> str:
    return database.manage("create_api_key", f"--tenant={tenant}", environment=environment)


def _let_pass(storm: Storm, *, port: int) -> Outcome:
    """Run the product, the storm and what comes after; return what was found."""
    with services.kept(storm.services) as keeper:
        tell("Starting web and workers …")
        services.wait_until_serving(storm.services, port=port, within_s=SERVING_WITHIN_S)
        storm.started = time.monotonic()
        for part in (storm.jobs, storm.trees, *storm.visitors):
            part.start()
        _rage(storm)
        for visitor in storm.visitors:
            visitor.stop()
            visitor.leave()
        stormed_s = time.monotonic() - storm.started
        done_in_storm = aftermath.count_done(storm.data_dir)
        if storm.model is not None:
            storm.model.calm()
        quiet_s = aftermath.wait_until_quiet(storm)
        if quiet_s is None:
            aftermath.tell_logs(storm)
        for watcher in (storm.jobs, storm.trees):
            watcher.stop()
        aftermath.write_runs(storm)
        keeper.stop()
        stubborn = [service.name for service in storm.services if not service.end()]
    orphans = aftermath.end_orphans(storm)
    accepted, sent = storm.ledger.all_accepted(), storm.ledger.sent.values()
    with database.connect(storm.data_dir) as connection:
        return Outcome(
            stormed_s=stormed_s,
            done_in_storm=done_in_storm,
            quiet_s=quiet_s,
            stubborn=tuple(stubborn),
            orphans=orphans,
            standing=oracle.read_standing(connection),
            waits=oracle.read_waits(connection, tenant=WAITER),
            paid=_count_paid(storm, connection),
            violations=tuple(oracle.find_violations(connection, accepted=accepted, sent=sent)),
        )


def _rage(storm: Storm) -> None:
    """Write and kill until both are done."""
    options = storm.options
    give_up_at = time.monotonic() + options.ends_within_s
    share = max(1, -(-options.messages // options.writers))
    threads = [
        Killer(storm, give_up_at=give_up_at),
        *(
            Writer(
                number, storm, messages=min(share, options.messages - done), give_up_at=give_up_at
            )
            for number, done in enumerate(range(0, options.messages, share))
        ),
    ]
    for thread in threads:
        thread.start()
    told_at = 0.0
    while any(thread.is_alive() for thread in threads):
        if time.monotonic() - told_at > TELL_EVERY_S:
            storm.tell_progress("storm")
            told_at = time.monotonic()
        time.sleep(LOOK_AGAIN_S)
    for thread in threads:
        thread.check()


def _count_paid(storm: Storm, connection: database.Connection) -> Paid | None:
    """Return what the model was asked for beside what was needed; None with no model.

    Nor with a tenant that erases: what was paid for and is erased cannot be told.

    A kill may cut off the answer that each worker of its cluster waits for, a crash and
    a freeze those of all workers.
    """
    if storm.model is None or storm.options.llm == "off" or storm.options.heavy:
        return None
    good = storm.model.count()["good"]
    events = storm.diary.read()
    each = storm.options.workers
    kills = sum(event.hits_workers for event in events)
    others = sum(event.deed in {Deed.CRASH, Deed.FREEZE} for event in events)
    return Paid(
        good=sum(count for purpose, count in good.items() if purpose != "embed"),
        needed=oracle.count_needed(connection),
        allowed=each * (kills + others * storm.options.supervisors),
    )
