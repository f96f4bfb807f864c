"""A database with rows becomes a cluster, which loses a node and gives a tenant one of its own."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tests.cluster import nodes
from tests.reliability.conformance import call_all
from tests.reliability.product import MANAGE, Product, web, workers
from tests.reliability.standby import Standby, kill, until
from tests.reliability.test_failover import Storm

pytestmark = pytest.mark.cluster

DURABLE = {**nodes.SETTINGS, "fsync": "off"}
"""A node that is killed must not lose what it has said is committed."""
TENANTS = 6
BREAKS = ["create_distributed_table('indexing_", "create_distributed_function", "ADD CONSTRAINT"]
"""What a run of `distribute` has just done when it is killed."""
TABLES = """
SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND relname <> 'memory_undistributed' ORDER BY relname
"""


@pytest.fixture(scope="module")
def grown() -> Iterator[Product]:
    """A database with rows that knows nothing of Citus, and two nodes that it does not know."""
    with nodes.migrated_nodes(DURABLE, with_citus=False) as folder:
        product = Product(folder / nodes.COORDINATOR, settings=DURABLE)
        call_all(product.around())
        yield product


@pytest.fixture
def distributed(grown: Product) -> Product:
    """The same, distributed; nothing is done where it is already."""
    nodes.add_nodes(grown.data_dir.parent)
    grown.manage("distribute")
    return grown


def digest(product: Product) -> dict[str, object]:
    """Return the number of rows of each table, and a sum of hashes of them."""
    names = [name for (name,) in product.query(TABLES)]
    summed = "SELECT count(*), sum(hashtext(item::text)::bigint) FROM {} AS item"
    return {name: product.query(summed.format(name)) for name in names}


def break_off(product: Product, *, after: str) -> None:
    """Start to distribute, and kill the run when it says that it has done something."""
    with subprocess.Popen(
        [*MANAGE, "distribute"],
        env={**product.around(), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        assert any(after in line for line in run.stdout), f"it never came to {after}"
        run.send_signal(signal.SIGKILL)


def test_a_database_with_rows_is_distributed_however_often_that_is_broken_off(
    grown: Product,
) -> None:
    nodes.add_nodes(grown.data_dir.parent)
    before = digest(grown)
    may_use = "SELECT has_schema_privilege('memory_app', 'public', 'USAGE')"
    for after in BREAKS:
        break_off(grown, after=after)
        assert grown.query(may_use) == [(False,)], "nothing is half served"
    grown.manage("distribute")
    assert grown.query(may_use) == [(True,)]
    assert digest(grown) == before
    assert grown.manage("distribute", "--dry-run") == ""


def test_a_tenant_moves_to_a_node_of_its_own(distributed: Product) -> None:
    before = digest(distributed)
    ((tenant,),) = distributed.query("SELECT tenant_id::text FROM semantic_fact LIMIT 1")
    ((shard,),) = distributed.query(
        f"SELECT isolate_tenant_to_new_shard('episodic_conversation', '{tenant}', 'CASCADE')"
    )
    place = f"SELECT nodename FROM citus_shards WHERE shardid = {shard} LIMIT 1"
    ((here,),) = distributed.query(place)
    hosts = {host for (host,) in distributed.query("SELECT nodename FROM citus_shards")}
    (there,) = {host for host in hosts if "worker" in host} - {here}
    distributed.query(
        f"SELECT citus_move_shard_placement({shard}, '{here}', 5432, '{there}', 5432)"
    )
    assert distributed.query(place) == [(there,)]
    assert digest(distributed) == before
    distributed.manage("distribute")


def test_a_node_that_is_killed_in_a_storm_loses_nothing_that_was_accepted(
    distributed: Product,
) -> None:
    around = distributed.around()
    node = Standby(distributed.data_dir.parent / nodes.WORKERS[0], settings=DURABLE)
    keys = [distributed.manage("create_api_key", "--tenant", f"t{n}") for n in range(TENANTS)]
    ends = Event()
    with web(around, workers=2) as port, workers(around), ThreadPoolExecutor(TENANTS) as pool:
        storms = [Storm(Product(distributed.data_dir, key=key).caller(port)) for key in keys]
        writers = [pool.submit(storm.write, ends) for storm in storms]
        try:
            until(lambda: all(len(storm.accepted) > 5 for storm in storms))
            kill(node)
            at = [len(storm.accepted) for storm in storms]
            time.sleep(4)
            gone_on = [len(storm.accepted) > n + 1 for storm, n in zip(storms, at, strict=True)]
            node.launch()
            at = [len(storm.accepted) for storm in storms]
            until(lambda: all(len(s.accepted) > n + 3 for s, n in zip(storms, at, strict=True)))
        finally:
            ends.set()
        for writer in writers:
            writer.result()  # each answer was an acceptance or a 503 that says when to come back
    lost = [storm.find_lost(distributed) for storm in storms]
    assert not any(lost)
    refused = [storm.statuses[503] > 0 for storm in storms]
    assert any(refused) and any(gone_on), "a node takes its tenants with it, the others go on"
