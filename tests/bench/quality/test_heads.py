"""Training and scoring of the offline engine's heads."""

import numpy as np

from bench.quality.labels import part_of, read_pairs, read_sentences
from bench.quality.networks import fit
from bench.tables import area_under_curve
from semantic.offline.heads import MATERIAL


def test_a_fit_separates_what_can_be_separated_and_is_the_same_twice() -> None:
    values = np.linspace(-1, 1, 41)
    inputs = np.stack([values, np.ones(41)], axis=1)
    targets = np.stack([values > 0.2, values < 0.2], axis=1).astype(np.float64)
    targets[::3, 1] = np.nan  # not labelled
    network = fit(inputs, targets, units=8)
    shares = network.score(inputs)[:, 0]
    assert area_under_curve(shares[values > 0.2], shares[values <= 0.2]) == 1.0
    again = fit(inputs, targets, units=8)
    assert np.array_equal(network.hidden, again.hidden)
    assert np.array_equal(network.output, again.output)


def test_each_chat_and_each_group_of_pairs_is_in_one_part() -> None:
    assert {part_of(f"en-{number:03}") for number in range(60)} == {"train", "choice", "blind"}
    sentences, pairs = read_sentences(), read_pairs()
    assert len(pairs) >= 2000 and len({row.language for row in sentences}) >= 14
    assert {row.part for row in pairs} == {row.part for row in sentences}


def test_an_opening_is_labelled_by_what_stands_below_it() -> None:
    rows = {row.sample.text: row.targets for row in read_sentences()}
    assert rows["Is this too stiff?"][MATERIAL] is True
    assert rows["What should I cook tonight?"][MATERIAL] is False
    assert MATERIAL not in rows["We only have a small hob."]
    assert "I have a heart condition and your drum kit does not help it." not in rows
