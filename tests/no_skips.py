"""A pytest plugin for CI: a run with a skipped test fails and says which; see `make test`."""

import pytest

_skipped = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_skipped] = []
    config.pluginmanager.register(_SkipCollector(config.stash[_skipped]))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash[_skipped] and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if config.stash[_skipped]:
        terminalreporter.section("skipped tests fail this run (CI is set)", red=True)
        for line in config.stash[_skipped]:
            terminalreporter.write_line(line)


class _SkipCollector:
    """Notes each skipped test, and each module that was skipped as a whole."""

    def __init__(self, skipped: list[str]) -> None:
        self.skipped = skipped

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped.append(f"{report.nodeid}: {_reason(report)}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.skipped.append(f"{report.nodeid}: {_reason(report)}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else "skipped"
