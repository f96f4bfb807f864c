"""What was measured, on what: figures mean little without it."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from typing import Any

from bench.retrieval import databases
from bench.retrieval.options import Options
from bench.retrieval.prepare import Loaded


def describe(options: Options, data: Loaded) -> dict[str, Any]:
    """Return the conditions of a run."""
    plan = data.plan
    with databases.superuser(databases.FULL) as connection:
        version = connection.execute("SHOW server_version").fetchone()
        fsync = connection.execute("SHOW fsync").fetchone()
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "python": platform.python_version(),
        "postgresql": version[0] if version else "",
        "fsync": fsync[0] if fsync else "",
        "scale": options.scale,
        "full_sizes": options.full_sizes,
        "dim": options.dim,
        "embedder": data.owner.model,
        "synthetic_embedder": options.synthetic_embedder,
        "rows": plan.rows,
        "facts": int(plan.facts.sum()),
        "episodes": plan.episodes,
        "messages": int(plan.messages.sum()),
        "conversations": len(plan.topics),
        "load_s": data.load_s,
    }
