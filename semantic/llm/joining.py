"""Joins the new facts of one answer that say the same, before they are written. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from semantic import details
from semantic.echoes import content_words
from semantic.engines import Action, Proposal
from semantic.topics import find_subject

LEAST_WORDS = 6
"""Words that two sentences must share before a single differing word counts as rewording."""


def join_alike(proposals: Iterable[Proposal]) -> tuple[list[Proposal], int]:
    """Return the proposals, with new facts that say the same joined, and how many were dropped.

    The longest of these takes the place of the first, with the messages of all.
    """
    kept: list[Proposal] = []
    joined = 0
    for proposal in proposals:
        place = next((at for at, other in enumerate(kept) if _say_same(other, proposal)), None)
        if place is None:
            kept.append(proposal)
        else:
            kept[place] = _join(kept[place], proposal)
            joined += 1
    return kept, joined


def _join(a: Proposal, b: Proposal) -> Proposal:
    fuller = b if len(content_words(b.fact)) > len(content_words(a.fact)) else a
    return replace(fuller, seqs=tuple(dict.fromkeys([*a.seqs, *b.seqs])))


def _say_same(a: Proposal, b: Proposal) -> bool:
    if not a.action == b.action == Action.NEW or a.episode != b.episode:
        return False
    words_a, words_b = content_words(a.fact), content_words(b.fact)
    if not words_a or not words_b:
        return False
    readers = (details.count_negations, details.read_directions, details.read_operators)
    if any(read(a.fact) != read(b.fact) for read in readers):
        return False
    if words_a == words_b and _read_values(a.fact) == _read_values(b.fact):
        return True
    if find_subject(a.fact) != find_subject(b.fact) or not set(a.seqs) & set(b.seqs):
        return False
    if _read_values(a.fact) == _read_values(b.fact) and _are_reworded(words_a, words_b):
        return True
    short, long = sorted((a, b), key=lambda proposal: len(content_words(proposal.fact)))
    begins = content_words(long.fact)[: len(content_words(short.fact))]
    keeps_values = _read_values(short.fact) <= _read_values(long.fact)
    return begins == content_words(short.fact) and keeps_values


def _are_reworded(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return whether two sentences have the same words, or differ in one word out of many."""
    lone_a, lone_b = set(a) - set(b), set(b) - set(a)
    if not lone_a and not lone_b:
        return True
    return len(lone_a) <= 1 and len(lone_b) <= 1 and len(set(a) | set(b)) >= LEAST_WORDS


def _read_values(text: str) -> frozenset[str]:
    return details.read_numbers(text) | details.read_dates(text)
