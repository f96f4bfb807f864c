"""Summaries taken from the lines themselves: nothing is made up.

A summary quotes the sentences that tell most, in the order they were said, each behind
its speaker and with the date of every relative time phrase beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from episodic import discourse_cues as cues
from episodic.engines import Line, Vectors
from episodic.offline_evidence import Floats, unit
from episodic.text_sizes import clip_words, count_words, is_spaceless
from episodic.time_anchors import anchor_times

MOST_SUMMARY_WORDS = 50
MOST_SENTENCE_WORDS = 24
FEWEST_TELLING_WORDS = 3
ENOUGH_WORDS = 25
"""A summary of so many words is not filled up with "Totally agree" and "Hey"."""
WORTH_OF_THE_WISH = 0.5
"""The first telling question or request says what the talk is for (MemoChat, ROUGE-L: + .007)."""
MOST_WORDS_OF_A_FRAGMENT = 8
"""A shorter answer ("70 yuan.") means nothing without its question."""
_SENTENCE = re.compile(r"(?:[^.!?。！？…\n]|\.(?=\w))+(?:[.!?…]+[\"'”’)]*|[。！？…]+[」』”]?|\n|$)")
_TITLE_OF_A_PERSON = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|Prof|vs|e\.g|i\.e)\.(?= )")
_HALF_OF_THE_DAY = re.compile(r"(\d ?)([ap])\. ?m\b\.?", re.IGNORECASE)
_CLOSED = re.compile(r"[.!?。！？…:：;；,，、]\W*$")
_NUMBER_OR_NAME = re.compile(r"\d|(?<=[^.!?\s] )[A-Z][a-z]+")
_REACTION = re.compile(
    r"^\W*(?:wow|who?ah?|woah|yay|aww*|congrats|congratulations|amazing|awesome|cool|nice|great"
    r"|incredible|(?:i['’]m )?(?:so |really )?(?:glad|happy|proud) (?:of|for|to hear|that|the|you)"
    r"|(?:that|it|this)?(?: sounds|['’]s) (?:like |so |really )*(?:awesome|amazing|great|good"
    r"|incredible|cool|nice|fun|tough|wonderful|lovely)|stay safe|keep (?:it )?up|believe in)\b",
    re.IGNORECASE,
)
"""What a listener says to be kind tells nothing of what happened."""


class Sentence(NamedTuple):
    """A sentence and where it was said: which line, and which place in the line."""

    line: int
    place: int
    text: str


def compose_summary(lines: Sequence[Line], vectors: Vectors) -> str:
    """Return at most 50 words that tell what was said; never empty."""
    left = MOST_SUMMARY_WORDS
    chosen: dict[tuple[int, int], Sentence] = {}
    for sentence in rank_sentences(lines, vectors):
        asked = _find_question(sentence, lines)
        group = [
            part._replace(text=anchor_times(part.text, at=lines[part.line].at))
            for part in (asked, sentence)
            if part and part[:2] not in chosen
        ]
        cost = sum(count_words(f"{lines[part.line].speaker} {part.text}") for part in group)
        filler = _tells_little(sentence.text) and left < MOST_SUMMARY_WORDS - ENOUGH_WORDS
        if cost <= left and not filler:
            chosen |= {part[:2]: part for part in group}
            left -= cost
    if not chosen:
        said = [f"{name_speaker(line)}: {' '.join(line.content.split())}" for line in lines]
        return clip_words(" ".join(said), MOST_SUMMARY_WORDS)
    parts: list[str] = []
    speaker = ""
    for sentence in sorted(chosen.values()):
        name = name_speaker(lines[sentence.line])
        text = _close_sentence(sentence.text)
        parts.append(text if name == speaker else f"{name}: {text}")
        speaker = name
    return clip_words(" ".join(parts), MOST_SUMMARY_WORDS)


def _find_question(sentence: Sentence, lines: Sequence[Line]) -> Sentence | None:
    """Return the question of the line before that a fragment answers."""
    if sentence.place or not sentence.line:
        return None
    before = lines[sentence.line - 1].content
    if count_words(sentence.text) > MOST_WORDS_OF_A_FRAGMENT or not cues.is_question(before):
        return None
    said = split_sentences(before)
    if not said:  # "??" asks, in no words
        return None
    text = clip_words(said[-1], MOST_SENTENCE_WORDS)
    return Sentence(sentence.line - 1, len(said) - 1, text)


def _close_sentence(text: str) -> str:
    """Return the sentence with a mark at its end, so that the next does not run on."""
    return text if is_spaceless(text) or _CLOSED.search(text) else f"{text}."


def name_speaker(line: Line) -> str:
    """Return the name, else the role with a capital."""
    return line.name or line.role.capitalize()


def rank_sentences(lines: Sequence[Line], vectors: Vectors) -> list[Sentence]:
    """Return the sentences, the most telling first; none says what a better one says.

    Greetings, kind words and sentences of fewer than three content words come last.
    """
    weights = weigh_lines(lines, vectors)
    ranked: list[tuple[float, Sentence]] = []
    wish = find_wish(lines)
    for index, line in enumerate(lines):
        for place, text in enumerate(split_sentences(line.content)):
            if cues.content_words(text):
                worth = 0.5 * float(weights[index]) + weigh_words(text) - _tells_little(text)
                sentence = Sentence(index, place, text)
                worth += WORTH_OF_THE_WISH * (sentence == wish)
                ranked.append((-worth, sentence))
    chosen: list[Sentence] = []
    told: set[str] = set()
    for _, sentence in sorted(ranked):
        words = cues.content_words(sentence.text)
        if 2 * len(words & told) <= len(words):
            clipped = clip_words(sentence.text, MOST_SENTENCE_WORDS)
            chosen.append(sentence._replace(text=clipped))
            told |= words
    return chosen


def find_wish(lines: Sequence[Line]) -> Sentence | None:
    """Return the first telling sentence if it is a question or a request: what the talk is for."""
    for index, line in enumerate(lines):
        for place, text in enumerate(split_sentences(line.content)):
            if cues.content_words(text) and not _tells_little(text):
                asks = cues.is_request(text) or cues.is_question(text)
                return Sentence(index, place, text) if asks else None
    return None


def _tells_little(text: str) -> bool:
    few = len(cues.content_words(text)) < FEWEST_TELLING_WORDS
    return few or cues.is_greeting(text) or bool(_REACTION.search(text))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of `text` with their closing marks, spaces made single."""
    text = _HALF_OF_THE_DAY.sub(r"\1\2m", _TITLE_OF_A_PERSON.sub(r"\1", text))
    parts = (" ".join(part.split()).lstrip(",;:，；：、") for part in _SENTENCE.findall(text))
    return [found for part in parts if (found := part.strip())]


def weigh_lines(lines: Sequence[Line], vectors: Vectors) -> Floats:
    """Return how much each line stands for the whole, in about 0.0..1.2.

    Half is closeness to the middle of the episode, scaled to 0..1 within it.
    """
    closeness = vectors @ unit(vectors.mean(axis=0, dtype=np.float64))
    spread = float(np.ptp(closeness)) or 1.0
    weights = (closeness - closeness.min()) / spread * 0.5
    told = [weigh_words(line.content) for line in lines]
    return np.asarray(np.maximum(weights + told, 0.02), dtype=np.float64)


def weigh_words(text: str) -> float:
    """Return what a text tells, in about −0.5..0.7: first persons, names and numbers count.

    Questions, greetings, thanks and farewells tell little of what happened.
    """
    words = len(cues.content_words(text))
    weight = 0.35 * min(words, 8) / 8
    weight += 0.15 * bool(_NUMBER_OR_NAME.search(text))
    weight += 0.15 * cues.speaks_in_first_person(text)
    weight -= 0.3 * cues.is_question(text)
    weight -= 0.2 * (words < 6 and (cues.is_farewell(text) or cues.is_thanks(text)))
    return weight - 0.15 * cues.is_greeting(text)
