"""The second stage: messages are judged by their tokens where the mean of these fails."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from episodic.models import Conversation
from indexing import model_change
from indexing.models import MemoryKind, SearchVector
from jobs.draining import drain_jobs
from memoryproject.ai import embeddings
from memoryproject.ai.token_states import AXES, VERSION, Asked, pack
from memoryproject.tenancy.models import Tenant
from retrieval.hits import Candidates, Hit, MessageRow
from retrieval.packing import rank_messages
from retrieval.question_times import TimesAsked
from retrieval.scope import in_one
from retrieval.search.in_conversation import embed, search
from retrieval.search.late import Line, compare, judge, rescore
from retrieval.tuning import LATE_WEIGHT
from tests.conftest import Agent
from tests.retrieval.searches import make_question
from tests.retrieval.test_packing import ask, tell

WEEKEND = (
    "The whole weekend was long. On Saturday we drove to my sister's house by the sea, cooked fish"
    " for nine people, and sat up until two in the morning; her neighbour is a violinist; on Sunday"
    " everybody slept late, and the drive home took five hours because of the rain."
)
LINES = [
    ("Ana", WEEKEND),
    ("Ben", "Do you like music?"),
    ("Ben", "Music makes me happy."),
    ("Ana", "I would love to go to a concert with you."),
    ("Ana", "Which song is your favourite?"),
    ("Ben", "The old one about the moon."),
    ("Ana", "That is a lovely song!"),
    ("Ben", "We sang it at school."),
    ("Ana", "How lovely!"),
]
FIDDLE = "Who is playing a fiddle?"
AXIS = np.eye(AXES, dtype=np.float32)


def line(score: float, meaning: float, *axes: int) -> Line:
    return Line(1, score, meaning, bytes([VERSION]) + pack(AXIS[list(axes)]))


def test_the_nearest_token_counts_by_how_rare_the_asked_one_is() -> None:
    asked = Asked(AXIS[[0, 1]], np.array([3, 1], dtype=np.float32))
    texts = [pack(AXIS[list(axes)]) for axes in ([0, 5, 6], [7, 1], [8], [1, 0, 1])]
    assert compare([*texts, b""], asked) == pytest.approx([0.75, 0.25, 0, 1, 0], abs=1e-6)


def test_tokens_take_the_place_of_the_mean() -> None:
    asked = Asked(AXIS[:1], np.ones(1, dtype=np.float32))
    scores = rescore([line(4, 2, 0), line(1, -1, 3)], asked)
    assert scores == pytest.approx([4 - 2 + LATE_WEIGHT, 1 + 1 - LATE_WEIGHT])


def test_lines_without_states_and_questions_without_tokens_keep_their_scores() -> None:
    asked = Asked(AXIS[:1], np.ones(1, dtype=np.float32))
    without, foreign = Line(1, 3, 1, None), Line(1, 2, 1, bytes([VERSION + 1]) + pack(AXIS[:1]))
    judged = rescore([without, line(1, 0, 0), foreign, line(1, 0, 3)], asked)
    assert judged == pytest.approx([3, 1 + LATE_WEIGHT, 2, 1 - LATE_WEIGHT])
    lines = [line(1, 1, 0), line(2, 0, 1)]
    nothing = Asked(AXIS[:0], np.zeros(0, dtype=np.float32))
    for question in (None, nothing):
        assert rescore(lines, question) == [1, 2]
    assert rescore([line(1, 0, 0)], asked) == [1], "nothing to stand out from"


def test_of_all_lines_the_best_come_best_first_and_each_with_its_memory() -> None:
    lines = [
        [Line(1, 1, 0, None), Line(2, 4, 0, None), Line(3, 4, 0, None)],
        [],
        [Line(4, 3, 0, None)],
    ]
    for at_most, wanted in [(3, [[(3, 4), (2, 4)], [], [(4, 3)]]), (1, [[(3, 4), (2, 4)], [], []])]:
        assert judge(lines, None, at_most=at_most) == wanted
    assert sum(map(len, judge(lines, None, at_most=9))) == 4


def test_a_detail_that_drowns_in_the_mean_is_found_by_its_tokens() -> None:
    local, texts = embeddings.LocalEmbedder(), [f"{who}: {said}" for who, said in LINES]
    vector, asked = embeddings.read_query(FIDDLE, local)
    assert asked is not None
    assert (embeddings.embed_passages(texts, embedder=local) @ vector).argmax() != 0
    kept = [packed or b"" for packed in embeddings.keep_states(texts, embedder=local)]
    assert compare([packed[1:] for packed in kept], asked).argmax() == 0


def find_best(agent: Agent, external_id: uuid.UUID) -> int:
    """Return the seq of the line that answers best, from 1."""
    conversation = Conversation.objects.of(agent.tenant).get(external_id=external_id)
    question = make_question(FIDDLE, now=datetime(2026, 4, 1, tzinfo=UTC), line_limit=50)
    question = replace(question, meaning=embed(FIDDLE, embeddings.get_embedder()))
    hits = search(in_one(conversation), question)
    return max((score, seq) for hit in hits for seq, score in hit.lines)[1]


def read_states(agent: Agent) -> dict[uuid.UUID, bytes]:
    """Return what is kept of tokens, by the id of its vector."""
    rows = SearchVector.objects.of(agent.tenant).exclude(states=None)
    return {row.id: bytes(row.states or b"") for row in rows}


@pytest.mark.django_db
def test_the_detail_is_found_and_states_of_before_are_made(ana: Agent) -> None:
    conversation = tell(ana, LINES)
    assert find_best(ana, conversation) == 1
    answer = ask(ana, conversation, FIDDLE)["markdown"]
    rows = SearchVector.objects.of(ana.tenant)
    assert "message" not in rows.filter(states=None).values_list("kind", flat=True)
    kept = read_states(ana)
    vectors = {row.id: list(row.embedding) for row in rows}
    assert len(kept) == len(LINES)

    rows.update(states=None)
    assert find_best(ana, conversation) != 1, "its mean does not find it"
    assert ask(ana, conversation, FIDDLE)["markdown"] == answer, "unpacked answers do without"

    for _ in range(2):  # what has vectors of all is looked at for states
        model_change.notice_changes(at_most=100)
    drain_jobs()
    assert read_states(ana) == kept
    assert {row.id: list(row.embedding) for row in rows} == vectors
    model_change.notice_changes(at_most=100)
    settings = Tenant.objects.get(id=ana.tenant.id).settings
    assert settings[model_change.STATES] == embeddings.LocalEmbedder.name


def test_of_lines_that_match_equally_the_newer_stands_first() -> None:
    episode, times = uuid.uuid4(), [datetime(2026, 3, day, tzinfo=UTC) for day in (4, 2, 9, 9)]
    rows = [
        MessageRow(str(seq), seq, "user", "Ana", "Blue.", at, {}, None, str(episode))
        for seq, at in enumerate(times, 1)
    ]
    hit = Hit(episode, MemoryKind.EPISODE, 1, 1.0, lines=tuple((row.seq, 1.0) for row in rows))
    candidates = Candidates([], [], [], {row.place: row for row in rows}, set(), ())
    ranked = rank_messages(candidates, [hit], {}, query="Which colour?", times=TimesAsked())
    assert [row.seq for row, _ in ranked] == [4, 3, 1, 2]
