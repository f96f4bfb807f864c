"""Training and scoring of the offline engine's heads."""

import numpy as np
import pytest

from bench.quality import heads
from bench.quality.labels import measure_agreement, part_of, read_pairs, read_sentences
from semantic.offline.heads import MATERIAL


def test_a_fit_separates_what_can_be_separated_and_is_the_same_twice() -> None:
    values = np.linspace(-1, 1, 41)
    inputs = np.stack([values, np.ones(41)], axis=1)
    targets = np.stack([values > 0.2, values < 0.2], axis=1).astype(np.float64)
    targets[::3, 1] = np.nan  # not labelled
    network = heads.fit(inputs, targets, units=8)
    shares = network.score(inputs)[:, 0]
    assert heads.rank_share(shares, targets[:, 0]) == 1.0
    again = heads.fit(inputs, targets, units=8)
    assert np.array_equal(network.hidden, again.hidden)
    assert np.array_equal(network.output, again.output)


@pytest.mark.parametrize(
    ("scores", "area"), [([0.1, 0.2, 0.8, 0.9], 1.0), ([0.9, 0.8, 0.2, 0.1], 0.0)]
)
def test_the_area_says_how_often_a_positive_stands_first(scores: list[float], area: float) -> None:
    assert heads.rank_share(np.array(scores), np.array([0.0, 0.0, 1.0, 1.0])) == area


def test_each_chat_and_each_group_of_pairs_is_in_one_part() -> None:
    assert {part_of(f"en-{number:03}") for number in range(60)} == {"train", "choice", "blind"}
    sentences, pairs = read_sentences(), read_pairs()
    assert len(pairs) >= 2000 and len({row.language for row in sentences}) >= 14
    assert {row.part for row in pairs} == {row.part for row in sentences}


def test_the_two_labellings_agree() -> None:
    agreement = measure_agreement()
    assert agreement["keep"] > 0.95 and agreement["act"] > 0.9


def test_an_opening_is_labelled_by_what_stands_below_it() -> None:
    rows = {row.sample.text: row.targets for row in read_sentences()}
    assert rows["Is this too stiff?"][MATERIAL] is True
    assert rows["What should I cook tonight?"][MATERIAL] is False
    assert MATERIAL not in rows["We only have a small hob."]
    assert "I have a heart condition and your drum kit does not help it." not in rows
