"""Every call answers the same through a pooler and with a replica as on one plain database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reliability.conformance import call_all, list_differences
from tests.reliability.conftest import SayFigures
from tests.reliability.pooler import pooler
from tests.reliability.product import Product, installed
from tests.reliability.standby import Standby, replicated
from tests.server import throwaway_folder


@pytest.fixture(scope="module")
def plain(template: Product) -> dict[str, Any]:
    """What is answered on one plain database."""
    with throwaway_folder() as folder, installed(template, folder) as product:
        product.start()
        return call_all(product.around())


@pytest.mark.bench
def test_a_pooler_changes_no_answer(
    template: Product, folder: Path, plain: dict[str, Any], say_figures: SayFigures
) -> None:
    with installed(template, folder) as product:
        owner = "postgresql://memory_owner@/memory?host={0.host}&port={0.port}".format(
            product.start()
        )
        with pooler(product, folder, servers=3) as port:
            url = f"postgresql://memory_app@127.0.0.1:{port}/memory"
            product.environment |= {"DATABASE_URL": url, "MEMORY_OWNER_DATABASE_URL": owner}
            pooled = call_all(product.around())
    assert list_differences(plain, pooled) == []
    say_figures(f"{len(plain)} kinds of answers, the same through PgBouncer")


@pytest.mark.gate
def test_a_replica_changes_no_answer(
    template: Product, folder: Path, plain: dict[str, Any], say_figures: SayFigures
) -> None:
    with replicated(template, folder, "standby") as (primary, standby):
        assert isinstance(standby, Standby)
        with primary.connect() as connection:  # what the session writes past the API is there, too
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("ALTER SYSTEM SET synchronous_commit = 'remote_apply'")
            connection.execute("SELECT pg_reload_conf()")
        primary.environment["MEMORY_READ_DATABASE_URL"] = standby.url
        replied = call_all(primary.around())
        ((scans,),) = standby.query("SELECT sum(xact_commit) FROM pg_stat_database")
    assert scans > len(plain) / 4, "the replica was asked"
    assert list_differences(plain, replied) == []
    say_figures(f"{len(plain)} kinds of answers, the same with a replica")
