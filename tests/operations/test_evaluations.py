"""The offline engine's figures, from small files of our own and without a database.

No test here is marked `django_db`: a query would fail it.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from manage import WITHOUT_DATABASE
from operations.boundary_metrics import Boundaries, f1, mean_score, pk, window_diff, window_length
from operations.case_evaluation import accuracy_by_prefix, read_words
from operations.fact_metrics import SourcedText, match_facts, pair_closest, score_matches
from operations.review_evaluation import (
    BESIDE,
    HIDDEN,
    STRANGERS,
    UNANSWERED,
    USED,
    USED_BRIEFLY,
    area_under_curve,
)
from operations.segmentation_evaluation import parse_dialogue
from operations.wording_metrics import SurpriseLevels, rouge_l, spread_surprise
from tests.operations.test_locomo import turns
from tests.talk import MOVING, RUNNING

COMMANDS = [
    "evaluate_segmentation",
    "evaluate_episodes",
    "evaluate_facts",
    "evaluate_reviews",
    "evaluate_contradictions",
    "evaluate_merges",
]


def run(command: str, path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command(command, str(path), *options, stdout=out)
    return out.getvalue()


def figures(command: str, path: Path, *options: str) -> dict[str, Any]:
    """Return what a command prints with --json: one line."""
    (line,) = run(command, path, "--json", *options).splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def write(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    return path


BREAD_THEN_BRAKES = [
    "I want to bake bread this weekend, a sourdough.",
    "Do you have a starter for the sourdough?",
    "Yes, my starter is bubbling on the kitchen counter.",
    "Then feed the starter with flour tonight and bake the bread tomorrow.",
    "By the way, my car makes a strange noise when I brake.",
    "When did you last have the brakes of the car checked?",
    "Two years ago, before I drove the car to Spain.",
    "Then the brake pads are worn, take the car to the garage.",
]


def talk(*, cut_after: int) -> str:
    """Return eight utterances of two topics as a labelled dialogue."""
    pieces = []
    for number, words in enumerate(BREAD_THEN_BRAKES):
        pieces.append(f"{'agent' if number % 2 else 'user'}: {words}")
        pieces += ["[BOUNDARY]"] if number == cut_after else []
    return "[NEWLINE]".join(pieces)


# Segments -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("utterances", "true", "length"),
    [(8, [3], 2), (16, [7], 4), (10, [4], 2), (14, [6], 4), (3, [0, 1], 2)],
)
def test_a_window_is_half_a_mean_segment(utterances: int, true: list[int], length: int) -> None:
    assert window_length(utterances=utterances, true=true) == length


@pytest.mark.parametrize(
    ("guessed", "wanted"),
    [
        ({3}, (0, 0, 1)),
        ({4}, (2 / 7, 2 / 7, 0)),
        ({3, 4}, (1 / 7, 2 / 7, 2 / 3)),
        (set(), (2 / 7, 2 / 7, 0)),
    ],
)
def test_boundaries_are_compared_in_seven_windows_of_two(
    guessed: set[int], wanted: tuple[float, float, float]
) -> None:
    case = Boundaries(utterances=8, true=frozenset({3}), guessed=frozenset(guessed))
    assert (pk(case), window_diff(case), f1(case)) == pytest.approx(wanted)


def test_the_score_is_half_f1_and_a_quarter_each_of_the_others() -> None:
    case = Boundaries(utterances=8, true=frozenset({3}), guessed=frozenset({3, 4}))
    too_short = Boundaries(utterances=1, true=frozenset(), guessed=frozenset())
    found = mean_score([case, too_short])
    assert found.dialogues == 1
    assert found.score == pytest.approx(1 / 3 + 6 / 28 + 5 / 28)


def test_a_boundary_after_the_last_or_before_the_first_utterance_does_not_count() -> None:
    text = "[BOUNDARY][NEWLINE]bot: Hi[NEWLINE][BOUNDARY][NEWLINE]user: so: what[NEWLINE][BOUNDARY]"
    lines, boundaries = parse_dialogue(text)
    assert [(line.role, line.content) for line in lines] == [
        ("assistant", "Hi"),
        ("user", "so: what"),
    ]
    assert boundaries == {0}


def test_segments_are_scored_by_file_and_written_for_the_scorer(tmp_path: Path) -> None:
    folder = tmp_path / "sets"
    folder.mkdir()
    right = json.dumps({"id": "right", "dialogue": talk(cut_after=3)})
    wrong = json.dumps({"id": "wrong", "dialogue": talk(cut_after=1)})
    (folder / "a.jsonl").write_text(f"{right}\n\n{wrong}\n")
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(right.replace("right", "again").encode()))
    (folder / "notes.txt").write_text("not a dialogue")
    out = tmp_path / "out.jsonl"
    found = figures("evaluate_segmentation", folder, "--out", str(out))
    # The second is cut after 3 instead of 1: 4 of 7 windows of two see it.
    assert found["a.jsonl"] == pytest.approx(
        {"dialogues": 2, "Pk": 2 / 7, "WindowDiff": 2 / 7, "F1": 0.5, "Score": 0.25 + 5 / 14},
        abs=1e-6,
    )
    assert found["b.jsonl.gz"]["Score"] == 1
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert rows == [{"id": name, "boundaries": [3]} for name in ("right", "wrong", "again")]
    table = run("evaluate_segmentation", folder / "a.jsonl").splitlines()
    assert table[1].split() == ["a.jsonl", "2", "0.286", "0.286", "0.500", "0.607"]


# Titles and summaries -------------------------------------------------------------


def topics(*ends: int) -> list[dict[str, Any]]:
    """Return true segments that end after these utterances, counted from 1."""
    starts = [1, *(end + 1 for end in ends)]
    return [
        {"start": start, "end": end, "topic": "sourdough", "summary": "The user bakes bread."}
        for start, end in zip(starts, ends, strict=False)
    ]


def memochat(id: str, *ends: int) -> dict[str, Any]:
    said = [["bot" if n % 2 else "user", words] for n, words in enumerate(BREAD_THEN_BRAKES)]
    return {"id": id, "utt": said, "segments": topics(*ends)}


def test_episodes_are_compared_with_the_true_ones_and_written_for_the_scorer(
    tmp_path: Path,
) -> None:
    path, out = tmp_path / "talks.jsonl", tmp_path / "episodes.jsonl"
    found = figures(
        "evaluate_episodes",
        write(path, memochat("right", 4, 8), memochat("wrong", 2, 8)),
        *("--out", str(out)),
    )
    assert (found["dialogues"], found["f1"], found["topics"], found["episodes"]) == (2, 0.5, 4, 4)
    # Cut after 4: both topics of the first; 2 of 4 lines and 4 of 6 of the second.
    assert found["shared_lines"] == pytest.approx((1 + 1 + 2 / 4 + 4 / 6) / 4, abs=1e-6)
    assert found["titles_of_5_to_15_words"] == found["summaries_of_1_to_50_words"] == 1
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["right", "wrong"]
    spans = [(episode["start"], episode["end"]) for episode in rows[0]["episodes"]]
    assert spans == [(1, 4), (5, 8)]
    # Its own titles and summaries as the true ones are found again, all of them.
    same = [
        {**topic, "topic": episode["title"], "summary": episode["summary"]}
        for topic, episode in zip(topics(4, 8), rows[0]["episodes"], strict=True)
    ]
    again = write(path, memochat("right") | {"segments": same})
    found = figures("evaluate_episodes", again, "--true-boundaries")
    worded = ("title_cosine", "summary_cosine", "summary_rouge_l", "f1")
    assert [found[key] for key in worded] == pytest.approx([1, 1, 1, 1], abs=1e-4)
    assert "cosine with our embedder" in run("evaluate_episodes", path)


def test_topics_without_summaries_have_no_figures_for_them(tmp_path: Path) -> None:
    bare = [{**topic, "summary": ""} for topic in topics(4, 8)]
    path = write(tmp_path / "talks.jsonl", memochat("bare") | {"segments": bare})
    assert figures("evaluate_episodes", path)["summary_rouge_l"] is None
    assert "ROUGE" not in run("evaluate_episodes", path)


@pytest.mark.parametrize(
    ("wanted", "made", "score"),
    [
        ("Ana moved to Porto", "ana moved, at last, to Porto!", 2 * 4 / (4 + 6)),
        ("a b c", "c b a", 1 / 3),
        ("", "a", 0),
    ],
)
def test_rouge_l_counts_the_longest_common_run(wanted: str, made: str, score: float) -> None:
    assert rouge_l(wanted, made) == pytest.approx(score)


def test_surprise_is_spread_by_its_levels() -> None:
    levels = spread_surprise([0.1, 0.2, 0.7, 0.85])
    assert levels == SurpriseLevels(4, pytest.approx(0.45), 0.5, 0.25)


# Reviews --------------------------------------------------------------------------


def test_reviews_tell_used_episodes_from_those_served_in_vain(tmp_path: Path) -> None:
    path = locomo(
        tmp_path / "locomo.json",
        {1: [["Mira is moving from Ghent to Rotterdam at the end of the month.", "D1:5"]]},
        qa=[
            {"question": "Where does Mira go?", "answer": "Rotterdam", "evidence": ["D1:5"],
             "category": 1},
            {"question": "Why does Mira fly?", "adversarial_answer": "To Rome", "category": 5,
             "evidence": ["D1:5"]},
        ],
    )  # fmt: skip
    found = figures("evaluate_reviews", path)
    count = {group: sum(ratings.values()) for group, ratings in found["ratings"].items()}
    # One question, asked four times: answered in sentences, in a word, not at all, and
    # before strangers.
    served = count[UNANSWERED]
    assert served >= 2
    assert (count[STRANGERS], count[BESIDE]) == (served, 2 * (served - 1))
    assert count[USED] + count[USED_BRIEFLY] + count[HIDDEN] == 2
    assert found["ratings"][USED]["again"] == 0
    assert found["auc"][USED][UNANSWERED] == 1
    assert figures("evaluate_reviews", path) == found
    assert USED in run("evaluate_reviews", path, "--questions", "1")


def test_an_area_is_how_often_used_lies_above_unused() -> None:
    assert area_under_curve([3, 1], [2, 1]) == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert area_under_curve([], [1]) == 0.5


# Facts ----------------------------------------------------------------------------


def sourced(*turns: str) -> SourcedText:
    return SourcedText(text="", turns=frozenset(turns))


def test_facts_are_paired_once_closest_first() -> None:
    cosines = np.array([[0.95, 0.99], [0.94, 0.98], [0.2, 0.1]], dtype=np.float32)
    assert pair_closest(cosines, least_cosine=0.9) == [(0, 1), (1, 0)]
    drawn, wanted = (
        [sourced("D1:1"), sourced("D1:2"), sourced("D1:3")],
        [sourced("D1:2"), sourced()],
    )
    session = match_facts(drawn, wanted, cosines=cosines, least_cosine=0.9)
    score = score_matches(
        [session, match_facts([], [], cosines=np.zeros((0, 0)), least_cosine=0.9)]
    )
    assert (score.precision, score.recall, score.f1) == pytest.approx((2 / 3, 1, 4 / 5))
    assert (score.joint, score.facts_per_wanted) == (0.5, 1.5)


def locomo(
    path: Path, observations: dict[int, list[Any]], qa: Sequence[dict[str, Any]] = ()
) -> Path:
    conversation: dict[str, Any] = {"speaker_a": "Mira", "speaker_b": "Jonas"}
    for session, lines in ((1, MOVING), (3, RUNNING)):
        conversation[f"session_{session}_date_time"] = f"1:56 pm on {session} May, 2023"
        conversation[f"session_{session}"] = turns(lines, session)
    given = {f"session_{n}_observation": {"Mira": texts} for n, texts in observations.items()}
    sample = {"sample_id": "conv-0", "conversation": conversation, "observation": given}
    sample["qa"] = list(qa)
    path.write_text(json.dumps([sample]))
    return path


def test_facts_are_compared_with_observations_and_written_for_the_scorer(tmp_path: Path) -> None:
    path, out = tmp_path / "locomo.json", tmp_path / "facts.jsonl"
    unlike = ["The moon is made of basalt.", "D1:1"]
    found = figures("evaluate_facts", locomo(path, {1: [unlike]}), "--out", str(out))
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["sample_id"], row["session"]) for row in rows] == [("conv-0", 1), ("conv-0", 3)]
    facts = {row["session"]: row["facts"] for row in rows}
    total = sum(map(len, facts.values()))
    assert (found["wanted"], found["drawn"], found["f1"]) == (1, total, 0)
    assert any("Rotterdam" in fact["text"] and "D1:5" in fact["dia_ids"] for fact in facts[1])
    # The facts themselves as observations are found again, all of them.
    same = {n: [[fact["text"], fact["dia_ids"]] for fact in facts[n]] for n in facts}
    found = figures("evaluate_facts", locomo(path, same), "--least-cosine", "0.999")
    assert {found[key] for key in ("f1", "precision", "recall", "joint", "facts_per_wanted")} == {1}
    assert "with our embedder" in run("evaluate_facts", path)


# Contradictions and merges --------------------------------------------------------


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
        {"id": "tea", "messages": said("I love green tea."), "held": ["Bo tea"]},
    )  # fmt: skip
    found = figures("evaluate_contradictions", path)
    assert (found["cases"], found["accuracy"]) == (3, pytest.approx(2 / 3, abs=1e-6))
    assert found["groups"] == {"city": 0.5}
    assert found["wrong"] == {"city-2": ["held ['Lisbon']"]}
    shown = run("evaluate_contradictions", path, "--show", "--runs", "1")
    assert "city-2: held ['Lisbon']" in shown
    assert any("held: " in line and "Porto" in line for line in shown.splitlines())


def test_an_expectation_is_its_content_words() -> None:
    assert read_words("Bo lives in Porto.") == ["Bo", "lives", "Porto"]
    assert read_words(["lives in", "Porto"]) == ["lives in", "Porto"]
    assert accuracy_by_prefix(["m1", "m2"], wrong=["m1"]) == {}


def test_merges_are_judged_with_precision_and_recall(tmp_path: Path) -> None:
    path = write(
        tmp_path / "pairs.jsonl",
        {"id": "a", "a": "Bo lives in Porto.", "b": "Bo is living in Porto.", "same": True,
         "category": "identity"},
        {"id": "b", "a": "Bo has two cats.", "b": "Bo has three cats.", "same": False,
         "category": "identity"},
        {"id": "c", "a": "Bo likes tea.", "b": "Bo likes tea.", "same": False,
         "category": "preference", "category_b": "interest"},
        {"id": "d", "a": "Bo runs.", "b": "Bo runs.", "same": False, "category": "interest"},
        {"id": "e", "a": "Bo bakes.", "b": "Ana swims.", "same": True, "category": "interest"},
    )  # fmt: skip
    found = figures("evaluate_merges", path)
    assert (found["pairs"], found["precision"], found["recall"]) == (5, 0.5, 0.5)
    assert (found["false_merges"], found["missed_merges"]) == (["d"], ["e"])
    assert "merged wrongly: d" in run("evaluate_merges", path)


# Files that are none --------------------------------------------------------------

DIALOGUE = {"id": "x", "dialogue": "user: Hi[NEWLINE]agent: Hello"}
SAMPLE: dict[str, Any] = {"sample_id": "x", "conversation": {"speaker_a": "A", "speaker_b": "B"}}
ODD_OBSERVATION = {
    "sample_id": "x",
    "conversation": {
        **SAMPLE["conversation"],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": turns(MOVING, 1),
    },
    "observation": {"session_1_observation": {"Mira": [[5, "D1:1"]]}},
}
CASE = {"id": "x", "messages": said("I live in Lisbon."), "held": ["Lisbon"]}
PAIR = {"id": "x", "a": "Bo runs.", "b": "Bo runs.", "category": "interest", "same": True}
TALK = memochat("x", 4, 8)
BROKEN = {
    "evaluate_episodes": [
        [TALK, TALK],
        [TALK | {"segments": topics(4)}],
        [TALK | {"segments": topics(4, 4, 8)}],
        [TALK | {"segments": []}],
        [TALK | {"utt": [["user"]]}],
        [TALK | {"segments": [{"start": 1, "end": 8, "topic": " "}]}],
        [{"id": "x"}],
    ],
    "evaluate_reviews": [
        [[ODD_OBSERVATION | {"observation": {}}]],
        [[ODD_OBSERVATION | {"observation": {}, "qa": []}]],
        [[ODD_OBSERVATION | {"observation": {}, "qa": [{"question": "Who?"}]}]],
        [["x"]],
    ],
    "evaluate_segmentation": [[{"id": "x"}], [DIALOGUE | {"dialogue": "user: Hi"}], [["x"]]],
    "evaluate_facts": [
        [[ODD_OBSERVATION]],
        [[SAMPLE]],
        [[SAMPLE | {"observation": {}}]],
        [{"id": "x"}],
        [["x"]],
    ],
    "evaluate_contradictions": [
        [CASE, CASE],
        [CASE | {"messages": []}],
        [CASE | {"held": []}],
        [CASE | {"held": "Lisbon"}],
        [CASE | {"messages": [{"role": "king", "text": "I live.", "at": "2024-03-01"}]}],
        [CASE | {"messages": [{"role": "user", "text": "I live.", "at": "March"}]}],
    ],
    "evaluate_merges": [[PAIR, PAIR], [PAIR | {"same": "yes"}], [PAIR | {"a": " "}], [{"id": "x"}]],
}


@pytest.mark.parametrize(
    ("command", "rows"), [(command, rows) for command in BROKEN for rows in BROKEN[command]]
)
def test_a_file_of_another_form_is_refused_in_words(
    tmp_path: Path, command: str, rows: list[object]
) -> None:
    with pytest.raises(CommandError, match=r"odd\.jsonl"):
        run(command, write(tmp_path / "odd.jsonl", *rows))


@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_read_is_refused_in_words(tmp_path: Path, command: str) -> None:
    (tmp_path / "odd.jsonl.gz").write_bytes(gzip.compress(b"{}" * 99)[:-9])
    (tmp_path / "latin.jsonl").write_bytes(b"\xe9\n")
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "text.jsonl").write_text("no json")
    (tmp_path / "none").mkdir()
    names = ["odd.jsonl.gz", "latin.jsonl", "empty.jsonl", "text.jsonl", "none", "missing.jsonl"]
    for name in names:
        with pytest.raises(CommandError, match=name):
            run(command, tmp_path / name)


@pytest.mark.parametrize(
    "command", ["evaluate_segmentation", "evaluate_facts", "evaluate_episodes"]
)
def test_where_nothing_can_be_written_is_said_first(tmp_path: Path, command: str) -> None:
    with pytest.raises(CommandError, match="nowhere"):
        run(command, tmp_path / "missing", "--out", str(tmp_path / "nowhere" / "out.jsonl"))


def test_they_start_without_a_database() -> None:
    assert set(COMMANDS) <= WITHOUT_DATABASE
