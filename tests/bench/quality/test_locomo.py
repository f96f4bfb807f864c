"""Asking LoCoMo's questions, on a small sample of our own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from episodic.models import Episode
from memoryproject import embedded
from memoryproject.tenancy.models import Tenant
from semantic.models import Fact
from tests.bench.quality.samples import locomo, measure, read
from tests.server import throwaway_folder
from tests.template import for_benchmarks

QUESTION = {"question": "Where is Mira moving?", "answer": "Rotterdam", "category": 4}


@pytest.mark.django_db
@pytest.mark.parametrize("budget", [[], ["--max-tokens=200"]])
def test_questions_are_asked_through_the_view_and_written_for_the_scorer(
    tmp_path: Path, budget: list[str]
) -> None:
    path, out = locomo(tmp_path / "locomo.json", {}, [QUESTION]), tmp_path / "run.jsonl"
    measure("locomo", path, "--out", out, *budget)
    (line,) = read(out)
    assert (line["sample_id"], line["qid"]) == ("conv-0", 0)
    assert "Rotterdam" in line["units"][0]["text"]
    assert {"D1:1", "D1:5"} & {dia for unit in line["units"] for dia in unit["dia_ids"]}
    tenant = Tenant.objects.get(name="locomo")
    assert Episode.objects.of(tenant).exists() and Fact.objects.of(tenant).exists()


@pytest.mark.bench
def test_a_run_makes_its_own_database_and_stops_it(tmp_path: Path) -> None:
    path, out = locomo(tmp_path / "locomo.json", {}, [QUESTION]), tmp_path / "run.jsonl"
    with throwaway_folder() as folder:
        environment = {
            key: value for key, value in for_benchmarks().items() if key != "DATABASE_URL"
        }
        done = subprocess.run(
            [sys.executable, "-m", "bench.quality", "locomo", str(path), "--out", str(out)],
            cwd=settings.BASE_DIR,
            env=environment | {"MEMORY_DATA_DIR": str(folder / "var")},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert (folder / "var" / "postgres").exists()
        assert embedded.find_running(folder / "var") is None
    assert done.stdout == "1 questions\n" and len(read(out)) == 1
