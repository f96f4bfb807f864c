"""Facts that the offline engine draws from LoCoMo's sessions, against LoCoMo's observations.

Each session is cut into episodes, and nothing is known before it. The figures printed are by
the configured embedder and only tell one version of ours from another; the official ones come
from the scorer, which reads what --out writes. Needs no database.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from bench.quality.report import Report
from bench.quality.sessions import Session, SourcedText, cut_episodes, find_turns, read_sessions
from bench.tables import render_table
from memoryproject.ai.embeddings import embed_passages, read_built_in
from semantic.engines import Action
from semantic.offline.consolidator import OfflineConsolidator

LEAST_COSINE = 0.9
"""Cosines of e5 lie high; here it matches about as many as the official scorer does."""


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("path", type=Path, help="LoCoMo's JSON, observations included")
    parser.add_argument("--out", type=Path, help="where the facts are written for the scorer")
    least = "from where on our embedder takes two texts for the same (default: %(default)s)"
    parser.add_argument("--least-cosine", type=float, default=LEAST_COSINE, help=least)


def measure(options: Namespace) -> Report:
    """Return figures over all sessions."""
    samples = read_sessions(options.path)
    sessions = [(sample.sample_id, session) for sample, own in samples for session in own]
    counts = Counter[str]()
    rows = []
    for sample_id, session in tqdm(sessions, unit=" sessions"):
        facts, observations = draw_facts(session), session.observations
        cosines = (
            embed_passages([fact.text for fact in facts])
            @ embed_passages([observation.text for observation in observations]).T
        )
        least = options.least_cosine
        counts += count_matches(facts, observations, cosines, least_cosine=least)
        texts = [{"text": fact.text, "dia_ids": sorted(fact.turns)} for fact in facts]
        rows.append({"sample_id": sample_id, "session": session.number, "facts": texts})
    figures = {"sessions": len(sessions), **score_matches(counts)}
    title = f"figure, with our embedder from a cosine of {options.least_cosine}"
    return Report(figures, render_table([title, "value"], figures.items()), tuple(rows))


def draw_facts(session: Session) -> list[SourcedText]:
    """Return the facts that the pipeline opens from a session of which nothing is known.

    As after a flush: the window is cut as the product cuts it, then all episodes are
    consolidated in one run. A fact has the turns of its own proposal and of those that
    reinforce it.
    """
    answer = OfflineConsolidator(read_built_in).consolidate(
        episodes=cut_episodes(session), known=()
    )
    facts: dict[str | None, tuple[str, set[str]]] = {}
    for index, proposal in enumerate(answer.proposals):
        turns = {turn for seq in proposal.seqs for turn in find_turns(session.messages[seq])}
        if proposal.action in {Action.NEW, Action.UPDATE}:
            facts[f"P{index}"] = proposal.fact, turns
        elif proposal.action is Action.REINFORCE and proposal.alias in facts:
            facts[proposal.alias][1].update(turns)
    return [SourcedText(text, frozenset(turns)) for text, turns in facts.values()]


def count_matches(
    facts: Sequence[SourcedText],
    observations: Sequence[SourcedText],
    cosines: npt.NDArray[np.float32],
    *,
    least_cosine: float,
) -> Counter[str]:
    """Return the counts of one session; `cosines` has a row for each fact.

    `pairs` were matched one to one; `joint` of the observations lie close enough to some
    fact that is drawn from one of the same turns.
    """
    close = cosines >= least_cosine
    joint = sum(
        any(close[i, j] and fact.turns & observation.turns for i, fact in enumerate(facts))
        for j, observation in enumerate(observations)
    )
    pairs = len(pair_closest(cosines, least_cosine=least_cosine))
    return Counter(drawn=len(facts), wanted=len(observations), pairs=pairs, joint=joint)


def pair_closest(cosines: npt.NDArray[np.float32], *, least_cosine: float) -> list[tuple[int, int]]:
    """Return (row, column) pairs, the closest first; each row and column is used once."""
    rows, columns = np.nonzero(cosines >= least_cosine)
    order = np.argsort(-cosines[rows, columns], kind="stable")
    pairs: dict[int, int] = {}
    for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        if row not in pairs and column not in pairs.values():
            pairs[row] = column
    return list(pairs.items())


def score_matches(counts: Mapping[str, int]) -> dict[str, float]:
    """Return the figures over the sums of all sessions; 0.0 where there is nothing.

    `wanted` are observations, `joint` the share of them that is met from the same turn; a fact
    and an observation are paired once for precision, recall and F1.
    """
    drawn, wanted, pairs, joint = (counts[key] for key in ("drawn", "wanted", "pairs", "joint"))
    return {
        "drawn": drawn,
        "wanted": wanted,
        "precision": pairs / max(drawn, 1),
        "recall": pairs / max(wanted, 1),
        "f1": 2 * pairs / max(drawn + wanted, 1),
        "joint": joint / max(wanted, 1),
        "facts_per_wanted": drawn / max(wanted, 1),
    }
