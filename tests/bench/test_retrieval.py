"""Latencies are measured on conversations that the benchmark posts itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.retrieval.run import PACKED, PLAIN, SEVERAL
from bench.retrieval.wording import COMMON, Wording
from tests.bench.commands import run
from tests.server import throwaway_folder

SIZE = ["--sizes", "30", "60", "--seconds=1", "--questions=3"]


def test_a_question_has_fifteen_words_and_none_that_every_text_has() -> None:
    words = Wording(seed=1).ask(np.random.default_rng(1), 15).split()
    assert len(set(words)) == 15 and not set(words) & set(COMMON)


@pytest.mark.bench
def test_a_run_times_each_side_and_uses_a_folder_again(tmp_path: Path) -> None:
    with throwaway_folder() as folder:
        command = ["bench.retrieval", *SIZE, f"--data-dir={folder / 'var'}"]
        _, first = run(*command, figures=tmp_path / "first.json")
        said, again = run(*command, figures=tmp_path / "again.json")
    assert [row["rows"] for row in first.values()] == [row["rows"] for row in again.values()]
    assert list(first) == ["30", "60"]
    for row in again.values():
        assert row["rows"] > 30
        assert {side: own["p50"] > 0 for side, own in row["sides"].items()} == {
            PLAIN: True, PACKED: True, SEVERAL: True,
        }  # fmt: skip
    assert f"rows, {SEVERAL}" in said
