"""Measures how long an answer takes, by size of the conversation, with one client."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.command import make_parser, publish
from bench.retrieval.run import fill, measure, render
from bench.server import running, shipped
from bench.storm.client import Client
from bench.storm.database import make_folder
from bench.storm.services import UNLIMITED

MARK = "benchmark.json"
"""Says which conversations a folder holds, and by whose key they are asked."""


def main() -> None:
    """Print how long answers take."""
    parser = make_parser(
        "retrieval",
        "Measure how long an answer takes, by size of the conversation: plain, packed, and to"
        " several questions.",
    )
    add = parser.add_argument
    add("--data-dir", type=Path, help="kept, and used again if it fits; else one under /tmp")
    add("--sizes", type=int, nargs="+", default=[400, 4_000], metavar="N", help="messages")
    add("--seconds", type=float, default=15, help="for each side and size; %(default)s")
    add("--questions", type=int, default=300, help="at most, for each size; %(default)s")
    options = parser.parse_args()
    wanted = {"sizes": options.sizes, "seed": options.seed}
    mark = _read_mark(options.data_dir)
    fits = mark.get("wanted") == wanted
    folder = options.data_dir.resolve() if fits else make_folder(options.data_dir)
    with running(folder, shipped(folder) | UNLIMITED, keep=bool(options.data_dir)) as server:
        key = mark["key"] if fits else server.manage("create_api_key", "--tenant=benchmark")
        with closing(Client(port=server.port, key=key)) as client:
            if not fits:
                fill(server, client, **wanted)
                (folder / MARK).touch(mode=0o600)
                (folder / MARK).write_text(json.dumps({"wanted": wanted, "key": key}))
            figures = measure(server, client, options)
    publish(render(figures), figures, options.json)


def _read_mark(folder: Path | None) -> dict[str, Any]:
    if folder is None or not (folder / MARK).exists():
        return {}
    found: dict[str, Any] = json.loads((folder / MARK).read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    main()
