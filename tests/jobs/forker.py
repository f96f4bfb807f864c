"""A process that loads everything once and then forks children, some of which are killed.

It is asked in lines of JSON and answers in such lines: {"task", …, "point", "passage"} →
{"status"}: 0 for a child that ended, 9 for one that was killed. A child has connections of
its own, and one thread of the embedded model, which would not survive a fork otherwise.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.test import Client  # noqa: E402

from episodic.offline.lexicon import find_lexicon  # noqa: E402
from indexing.detection import detect_language  # noqa: E402
from jobs.draining import drain_jobs  # noqa: E402
from memoryproject.ai.embeddings import get_embedder  # noqa: E402
from memoryproject.process import crash_points  # noqa: E402
from tests.semantic.fact_makers import learn  # noqa: E402
from tests.talk import MOVING, RUNNING  # noqa: E402


def post(path: str, secret: str, body: Any, key: str) -> None:
    headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": key}
    answer = Client(headers=headers).post(path, body, content_type="application/json")
    assert answer.status_code in {200, 201, 202}, answer.content


def drain() -> None:
    drain_jobs()


TASKS = {"post": post, "drain": drain}


def run_child(asked: dict[str, Any]) -> int:
    """Do the task in a child; return the signal that ended it, or 0."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0, "it failed"
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    try:
        if "point" in asked:
            crash_points.arm(crash_points.Point(asked["point"]), passage=asked["passage"])
        TASKS[asked["task"]](**asked.get("given", {}))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def load_everything() -> None:
    """Do what needs no database once, so that no child loads models and compiles patterns anew."""
    words = [words for _, words in MOVING + RUNNING]
    get_embedder().embed_passages(words[:1])
    detect_language(words)
    find_lexicon(())
    learn(*(("Mira", "user", said) for said in words))
    Client().get("/api/v0/health/live")


def main() -> None:
    """Answer until the input ends."""
    settings.ALLOWED_HOSTS = ["testserver"]
    load_everything()
    say({"ready": True})
    for line in sys.stdin:
        say({"status": run_child(json.loads(line))})


if __name__ == "__main__":
    main()
