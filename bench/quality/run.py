"""Reads the command line and runs one measurement."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from django.conf import settings
from django.core.management import call_command

from bench.quality import answers, contradictions, heads, relevance, segmentation
from bench.quality.memory import UnfinishedJobs
from bench.quality.report import write_lines
from bench.storm.database import copy_template
from memoryproject import embedded
from wings.transfer.loading import UnreadableFile

WITHOUT_DATABASE = (segmentation, contradictions, heads)
WITH_DATABASE = (answers, relevance)


def main(arguments: Sequence[str]) -> int:
    """Print the figures; return 0, or 1 after a sentence on what is wrong."""
    options = read_options(arguments)
    try:
        with database() if options.needs_database else nullcontext():
            sys.stdout.write(run(options) + "\n")
    except (UnreadableFile, UnfinishedJobs, OSError, embedded.EmbeddedPostgresError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


@contextmanager
def database() -> Iterator[None]:
    """Migrate the database of the settings; the embedded one runs afterwards if it did before."""
    starts = settings.EMBEDDED_POSTGRES and embedded.find_running(settings.DATA_DIR) is None
    try:
        if starts:
            copy_template(settings.DATA_DIR)
            embedded.ensure_started(settings.DATA_DIR)
        call_command("migrate", verbosity=0, interactive=False)
        yield
    finally:
        if starts:
            embedded.stop(settings.DATA_DIR)


def read_options(arguments: Sequence[str]) -> Namespace:
    """Return the command line's options, with `needs_database`."""
    parser = ArgumentParser(
        prog="python -m bench.quality",
        description="Measure how good the server is, on labelled data.",
    )
    commands = parser.add_subparsers(required=True, metavar="what")
    for module in WITHOUT_DATABASE + WITH_DATABASE:
        description = module.__doc__ or ""
        command = commands.add_parser(
            module.__name__.rpartition(".")[2],
            help=description.splitlines()[0],
            description=description,
            formatter_class=RawDescriptionHelpFormatter,
        )
        module.add_options(command)
        command.add_argument("--json", action="store_true", help="print one JSON line")
        command.set_defaults(measure=module.measure, needs_database=module in WITH_DATABASE)
    return parser.parse_args(arguments)


def run(options: Namespace) -> str:
    """Return the figures, as text or JSON; what goes into a file is written.

    Raises:
        UnreadableFile: the data is missing or of another form.
        UnfinishedJobs: what was loaded could not be processed.
        OSError: a file cannot be written; that is found out before the work.
    """
    out = getattr(options, "out", None)
    if out is not None:
        out.open("a", encoding="utf-8").close()
    report = options.measure(options)
    if out is not None:
        write_lines(out, report.rows)
    return json.dumps(report.figures, ensure_ascii=False) if options.json else report.text
