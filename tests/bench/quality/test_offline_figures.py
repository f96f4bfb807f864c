"""The offline engine's figures, from small files of our own and without a database.

No test here is marked `django_db`: a query would fail it.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bench.quality.boundaries import Boundaries, compare, mean_score
from bench.quality.contradictions import split_words
from bench.quality.dialogues import SuperDialseg
from bench.quality.run import main
from bench.tables import area_under_curve
from tests.bench.quality.samples import figures, measure, read, superdialseg, write
from wings.transfer.loading import UnreadableFile

# Segments -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("utterances", "true", "length"),
    [(8, [3], 2), (16, [7], 4), (10, [4], 2), (14, [6], 4), (3, [0, 1], 2)],
)
def test_a_window_is_half_a_mean_segment(utterances: int, true: list[int], length: int) -> None:
    assert Boundaries(utterances, frozenset(true), frozenset()).window == length


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        ({3}, (0, 0, 1)),
        ({4}, (2 / 7, 2 / 7, 0)),
        ({3, 4}, (1 / 7, 2 / 7, 2 / 3)),
        (set(), (2 / 7, 2 / 7, 0)),
    ],
)
def test_boundaries_are_compared_in_seven_windows_of_two(
    predicted: set[int], expected: tuple[float, float, float]
) -> None:
    case = Boundaries(utterances=8, true=frozenset({3}), predicted=frozenset(predicted))
    assert compare(case) == pytest.approx(expected)


def test_the_score_is_half_f1_and_a_quarter_each_of_the_others() -> None:
    case = Boundaries(utterances=8, true=frozenset({3}), predicted=frozenset({3, 4}))
    too_short = Boundaries(utterances=1, true=frozenset(), predicted=frozenset())
    score = mean_score([case, too_short])
    assert score["dialogues"] == 1
    assert score["Score"] == pytest.approx(1 / 3 + 6 / 28 + 5 / 28)


def test_a_boundary_after_the_last_or_before_the_first_utterance_does_not_count() -> None:
    text = "[BOUNDARY][NEWLINE]bot: Hi[NEWLINE][BOUNDARY][NEWLINE]user: so: what[NEWLINE][BOUNDARY]"
    dialogue = SuperDialseg(id="x", dialogue=text).to_dialogue()
    assert [(line.role, line.content) for line in dialogue.lines] == [
        ("assistant", "Hi"),
        ("user", "so: what"),
    ]
    assert dialogue.boundaries == {0}


def test_segments_are_scored_by_file_and_written_for_the_scorer(tmp_path: Path) -> None:
    folder, out = tmp_path / "sets", tmp_path / "out.jsonl"
    folder.mkdir()
    rows = [superdialseg("right", cut_after=3), superdialseg("wrong", cut_after=1)]
    write(folder / "a.jsonl", *rows)
    again = json.dumps(superdialseg("again", cut_after=3))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(again.encode()))
    (folder / "notes.txt").write_text("not a dialogue")
    scores = figures("segmentation", folder, "--out", out)
    # The second is cut after 3 instead of 1: 4 of 7 windows of two see it.
    assert scores["a.jsonl"] == pytest.approx(
        {"dialogues": 2, "Pk": 2 / 7, "WindowDiff": 2 / 7, "F1": 0.5, "Score": 0.25 + 5 / 14},
        abs=1e-6,
    )
    assert scores["b.jsonl.gz"]["Score"] == 1
    assert read(out) == [{"id": id, "boundaries": [3]} for id in ("right", "wrong", "again")]
    table = measure("segmentation", folder / "a.jsonl").splitlines()
    assert table[1].split() == ["a.jsonl", "2", "0.286", "0.286", "0.500", "0.607"]


def test_an_area_is_how_often_used_lies_above_unused() -> None:
    assert area_under_curve([3, 1], [2, 1]) == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert area_under_curve([], [1]) == 0.5


# Contradictions -------------------------------------------------------------------


def said(*texts: str) -> list[dict[str, str]]:
    at = "2024-03-0{}T10:00:00+00:00"
    return [
        {"name": "Bo", "role": "user", "text": text, "at": at.format(day)}
        for day, text in enumerate(texts, start=1)
    ]


def test_contradictions_are_judged_by_group(tmp_path: Path) -> None:
    moved = said("I live in Lisbon with my sister.", "I moved to Porto last week.")
    path = write(
        tmp_path / "cases.jsonl",
        {"id": "city-1", "messages": moved, "held": [["Bo", "Porto"]], "not_held": ["in Lisbon"],
         "known_before": ["Lisbon"]},
        {"id": "city-2", "messages": moved, "held": ["Lisbon"], "not_held": [], "known_before": []},
        {"id": "city-3", "messages": moved, "not_held": ["in Porto"]},
        {"id": "tea", "messages": said("I love green tea."), "held": ["Bo tea"]},
    )  # fmt: skip
    score = figures("contradictions", path)
    assert (score["cases"], score["accuracy"]) == (4, 0.5)
    assert score["wrong"] == {
        "city-1": ["not_held ['Lisbon']", "known_before ['Lisbon']"],
        "city-3": ["not_held ['Porto']"],
    }
    assert (score["closed_wrongly"], score["left_stale"]) == (0, 2)
    shown = measure("contradictions", path, "--runs", "1")
    assert "city-1: not_held ['Lisbon']" in shown
    assert any("held: " in line and "Porto" in line for line in shown.splitlines())


def test_an_expectation_is_its_content_words() -> None:
    assert split_words("Bo lives in Porto.") == ["Bo", "lives", "Porto"]
    assert split_words(["lives in", "Porto"]) == ["lives in", "Porto"]


# Files that are none --------------------------------------------------------------

DIALOGUE = {"id": "x", "dialogue": "user: Hi[NEWLINE]agent: Hello"}
CASE = {"id": "x", "messages": said("I live in Lisbon."), "held": ["Lisbon"]}
BROKEN = {
    "segmentation": [[DIALOGUE, DIALOGUE], [DIALOGUE | {"dialogue": "user: Hi"}], [["x"]]],
    "contradictions": [
        [CASE | {"messages": []}],
        [CASE | {"held": []}],
        [CASE | {"held": ["to the"]}],
        [CASE | {"messages": [{"role": "king", "text": "I live.", "at": "2024-03-01"}]}],
        [CASE | {"messages": [{"role": "user", "text": "I live.", "at": "March"}]}],
    ],
}


@pytest.mark.parametrize(
    ("what", "rows"), [(what, rows) for what in BROKEN for rows in BROKEN[what]]
)
def test_a_file_of_another_form_is_refused_in_words(
    tmp_path: Path, what: str, rows: list[object]
) -> None:
    with pytest.raises(UnreadableFile, match=r"odd\.jsonl"):
        measure(what, write(tmp_path / "odd.jsonl", *rows))


@pytest.mark.parametrize("what", ["segmentation", "contradictions"])
def test_what_cannot_be_read_is_refused_in_words(tmp_path: Path, what: str) -> None:
    (tmp_path / "odd.jsonl.gz").write_bytes(gzip.compress(b"{}" * 99)[:-9])
    (tmp_path / "latin.jsonl").write_bytes(b"\xe9\n")
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "text.jsonl").write_text("no json")
    (tmp_path / "none").mkdir()
    names = ["odd.jsonl.gz", "latin.jsonl", "empty.jsonl", "text.jsonl", "none", "missing.jsonl"]
    for name in names:
        with pytest.raises(UnreadableFile, match=name):
            measure(what, tmp_path / name)


def test_where_nothing_can_be_written_is_said_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "nowhere" / "out.jsonl"
    assert main(["segmentation", str(tmp_path / "missing"), "--out", str(out)]) == 1
    assert "error: " in (message := capsys.readouterr().err) and str(out) in message
