"""Summaries taken from the lines themselves: nothing is made up.

A summary quotes the most informative sentences in their order, each after its speaker's name, with
a date after every relative time phrase.
"""

import re
from collections.abc import Sequence

from episodic.engines import Line, Vectors
from episodic.offline.lexicon import Lexicon, asks
from episodic.offline.sentences import Sentence, rank_sentences, read_sentences
from episodic.text_sizes import clip_words, count_words, is_spaceless
from memoryproject.text.dates import anchor_times

MOST_SUMMARY_WORDS = 50
MOST_SENTENCE_WORDS = 24
ENOUGH_WORDS = 25
"""Number of words from which on a summary is not filled up with remarks such as "Totally agree"."""
FRAGMENT_WORDS = 8
"""Length in words of an answer ("70 yuan.") that needs its question to be understood."""
Place = tuple[int, int]
"""A sentence: the number of its line, and its number in that line."""
_CLOSED = re.compile(r"[.!?。！？…:：;；,，、]\W*$")


def compose_summary(lines: Sequence[Line], vectors: Vectors, lexicon: Lexicon) -> str:
    """Return a summary of at most 50 words; never empty."""
    left = MOST_SUMMARY_WORDS
    chosen: dict[Place, str] = {}
    ranked = rank_sentences(lines, vectors, lexicon)
    has_telling = any(sentence.telling for sentence in ranked)
    for sentence in ranked:
        group = {
            place: anchor_times(clip_words(text, MOST_SENTENCE_WORDS), at=lines[place[0]].at)
            for place, text in _with_question(sentence, lines)
            if place not in chosen
        }
        cost = sum(count_words(f"{lines[key[0]].speaker} {text}") for key, text in group.items())
        is_enough = left < MOST_SUMMARY_WORDS - ENOUGH_WORDS
        is_empty_question = has_telling and asks(sentence.text)
        is_filler = not sentence.telling and (is_enough or is_empty_question)
        if cost <= left and not is_filler:
            chosen |= group
            left -= cost
    if not chosen:
        chosen = {(index, 0): " ".join(line.content.split()) for index, line in enumerate(lines)}
    parts: list[str] = []
    last = ""
    for (index, _), text in sorted(chosen.items()):
        name = lines[index].name or lines[index].role.capitalize()
        text = text if is_spaceless(text) or _CLOSED.search(text) else f"{text}."
        parts.append(text if name == last else f"{name}: {text}")
        last = name
    return clip_words(" ".join(parts), MOST_SUMMARY_WORDS)


def _with_question(sentence: Sentence, lines: Sequence[Line]) -> list[tuple[Place, str]]:
    """Return the sentence; if it is a fragment, after the question in the line before it."""
    own = (sentence.line, sentence.place), sentence.text
    if sentence.place or not sentence.line or count_words(sentence.text) > FRAGMENT_WORDS:
        return [own]
    before = read_sentences(lines[sentence.line - 1].content)
    if not before or not asks(before[-1]):
        return [own]
    return [((sentence.line - 1, len(before) - 1), before[-1]), own]
