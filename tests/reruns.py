"""A pytest plugin for CI: a test of the gate that fails is tried once more, and shown all the same.

docs/decisions/016-a-second-try.md says why, and why a storm is not; see `make test`.
"""

import pytest
from _pytest.terminal import TerminalReporter

TRIED_AGAIN = "rerun"
"""What pytest-rerunfailures calls the outcome of a try that was not the last."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("gate") and not item.get_closest_marker("alone"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Print the first try of each, as a failure is printed."""
    first_tries = terminalreporter.getreports(TRIED_AGAIN)
    if first_tries:
        terminalreporter.section("failed at first, and were tried once more", yellow=True)
        for report in first_tries:
            terminalreporter.write_sep("_", report.nodeid, yellow=True)
            terminalreporter._outrep_summary(report)
