"""The trained heads: what to keep, what endangers somebody, what replaces an older sentence."""

import numpy as np
import pytest

from memoryproject.ai.embeddings import read_built_in
from memoryproject.ai.token_states import AXES, read_directions
from semantic.offline import heads
from semantic.offline.heads import DANGER, KEEP, REPLACES, Pair, Sample

BYTES_AT_MOST = 500_000


def share(head: str, text: str) -> float:
    """Return the probability that a head gives to the only sentence of a first message."""
    sample = Sample(text, 0, 1, len(text), has_assistant=True, is_first_message=True)
    return float(heads.score_sentences([sample], read_built_in)[head][0])


def replaced(old: str, new: str) -> float:
    """Return the probability that a sentence, said half a year later, takes another's place."""
    row, traits = heads.compare(Pair(old, new, 180), *read_built_in([old, new]))
    return float(heads.load_pair_heads().score(row[np.newaxis], [traits])[REPLACES][0])


@pytest.mark.parametrize(
    ("kept", "dropped"),
    [
        ("I'm allergic to penicillin and carry a card that says so.", "haha ok, see you in a bit!"),
        ("Ich wohne seit März in Graz und arbeite als Hebamme.", "Kannst du mir das kürzer sagen?"),
        ("Mi hija Lucía empieza la universidad en septiembre.", "jajaja qué bueno, gracias"),
        ("我对花生过敏，吃了会住院。", "哈哈，好的，谢谢你！"),
    ],
)
def test_a_lasting_fact_scores_above_small_talk(kept: str, dropped: str) -> None:
    threshold = heads.load_heads().threshold(KEEP)
    assert share(KEEP, kept) > share(KEEP, dropped) < threshold


def test_an_allergy_endangers_and_a_hobby_does_not() -> None:
    threshold = heads.load_heads().threshold(DANGER)
    assert share(DANGER, "My son is allergic to peanuts.") >= threshold
    assert share(DANGER, "My son plays the trumpet.") < threshold


def test_a_new_value_replaces_more_likely_than_another_persons() -> None:
    old = "My phone number is 555-0143."
    assert replaced(old, "My new phone number is 555-0177.") > replaced(
        old, "My neighbour lost his phone on the beach."
    )


def read_change(old: str, new: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the direction of what the new sentence says beyond the old one."""
    row, _ = heads.compare(Pair(old, new, 1), *read_built_in([old, new]))
    change = row[-2 * AXES : -AXES]
    return change / np.linalg.norm(change)


def test_what_both_sentences_say_does_not_drown_what_changed() -> None:
    change = read_change("I live in Oslo near the harbour.", "I live in Rome near the harbour.")
    city = read_change("Xyzzy.", "Rome")
    rest = read_change("Xyzzy.", "near the harbour")
    assert change @ city > change @ rest


def test_a_sentence_without_a_token_that_counts_can_be_compared() -> None:
    known, blank = read_built_in(["I live in Oslo.", "of the"])
    assert not len(read_directions(blank))
    for pair in ((known, blank), (blank, known), (blank, blank)):
        row, traits = heads.compare(Pair("I live in Oslo.", "of the", 1), *pair)
        assert np.isfinite(row).all() and np.isfinite(traits).all()
        assert len(traits) == heads.PAIR_TRAITS


def test_the_weights_are_small_and_say_what_they_are() -> None:
    assert heads.WEIGHTS.stat().st_size <= BYTES_AT_MOST
    card = heads.WEIGHTS.with_suffix(".md").read_text(encoding="utf-8")
    assert all(name in card for name in heads.load_heads().names)
