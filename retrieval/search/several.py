"""Joins the results of several questions into one list, for one budget.

Several short questions find what one long question does not: its words and vector lie between the
answers.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, count

from retrieval.hits import Hit


def join_found(found: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Return the memories that any of the questions found, each once, facts and episodes apart.

    They are in order of their best rank, so that each question's first result comes before any
    second one. A message keeps its best score: scores are deviations from each question's own mean,
    and so are comparable.
    """
    by_memory: dict[object, list[Hit]] = defaultdict(list)
    for hit in sorted(chain(*found), key=lambda hit: hit.rank):  # stable: the first question first
        by_memory[hit.memory_id].append(hit)
    ranks: dict[object, count[int]] = defaultdict(lambda: count(1))
    joined = [
        replace(
            several[0],
            rank=next(ranks[several[0].shelf]),
            lines=_join_lines(several),
            terms=tuple(dict.fromkeys(chain.from_iterable(hit.terms for hit in several))),
            cosine=max((hit.cosine for hit in several if hit.cosine is not None), default=None),
        )
        for several in by_memory.values()
    ]
    return sorted(joined, key=lambda hit: hit.shelf)


def _join_lines(hits: Iterable[Hit]) -> tuple[tuple[int, float], ...]:
    best: dict[int, float] = {}
    for seq, score in chain.from_iterable(hit.lines for hit in hits):
        best[seq] = max(score, best.get(seq, score))
    return tuple(sorted(best.items(), key=lambda line: -line[1]))
