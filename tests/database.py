"""A pytest plugin: a PostgreSQL server of the run's own, before Django reads its settings."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.cluster import nodes
from tests.template import migrated_server

_open = ExitStack()
for _name in [name for name in os.environ if name.startswith(("MEMORY_", "OPENAI_", "DATABASE_"))]:
    del os.environ[_name]
os.environ["MEMORY_LOG_LEVEL"] = "ERROR"
# Tests may be faster than any agent; those about limits set their own.
os.environ |= {"MEMORY_KEY_RATE": "0", "MEMORY_TENANT_RATE": "0", "MEMORY_TENANT_BYTE_RATE": "0"}
os.environ["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings"

# Threads of two embedders that wait for each other on two cores take fifteen times as long.
os.environ["OMP_NUM_THREADS"] = "1"
# The tests start many processes; each would compile the product anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What is loaded until the tests run stays to the end: the collector need never look at it.
gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Start the server before Django is set up; who only hands tests to workers needs none."""
    hands_out = getattr(early_config.known_args_namespace, "numprocesses", None)
    if "PYTEST_XDIST_WORKER" in os.environ or not hands_out:
        server = nodes.distributed_server() if nodes.PLACE in os.environ else migrated_server()
        os.environ["MEMORY_DATA_DIR"] = str(_open.enter_context(server))
    return (yield)


def pytest_collection_finish() -> None:
    """Collect garbage from now on."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the server and remove its folder."""
    _open.close()
