"""The planned database has the sizes that it claims, and seqs without gaps."""

from __future__ import annotations

import numpy as np
import pytest

from bench.retrieval.plan import SIZES, make_plan
from bench.retrieval.wording import FUNCTION_WORDS, Wording


def test_at_full_scale_there_are_a_million_facts_and_200_000_episodes() -> None:
    plan = make_plan(scale=1.0, full_sizes=False, seed=1)
    assert plan.facts.sum() == pytest.approx(1_000_000, rel=0.01)
    assert plan.episodes == pytest.approx(200_000, rel=0.01)
    assert len(plan.topics) == 5_000
    assert plan.sizes() == tuple(SIZES)


def test_a_measured_conversation_has_about_the_rows_that_its_size_says() -> None:
    plan = make_plan(scale=0.2, full_sizes=True, seed=3)
    for own in plan.measured:
        mine = plan.conversation == own.index
        rows = (1 + plan.messages[mine] + plan.facts[mine]).sum()
        assert rows == pytest.approx(own.size, rel=0.1)


def test_the_messages_of_a_conversation_are_numbered_without_gaps() -> None:
    plan = make_plan(scale=0.01, full_sizes=False, seed=2)
    for index in range(len(plan.topics)):
        mine = plan.conversation == index
        ends = plan.first_seq[mine] + plan.messages[mine]
        assert plan.first_seq[mine].tolist() == [1, *ends[:-1].tolist()]


def test_the_small_database_is_a_hundredth_and_holds_the_smallest_conversations() -> None:
    plan = make_plan(scale=1.0, full_sizes=False, seed=1)
    smallest = [own.index for own in plan.of_size(min(SIZES))]
    assert plan.small[smallest].all()
    share = plan.small[plan.conversation].mean()
    assert 0.008 <= share <= 0.01


def test_a_question_has_fifteen_words_and_none_that_every_text_has() -> None:
    wording = Wording(seed=1)
    words = wording.ask(np.random.default_rng(1), [3, 4, 5], 15).split()
    assert len(set(words)) == 15
    assert not set(words) & set(FUNCTION_WORDS)
