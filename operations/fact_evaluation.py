"""Running the offline segmenter and consolidator over LoCoMo's sessions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from episodic import window
from episodic.engines import Line
from episodic.loading import UnreadableFile, read_conversations
from episodic.offline_segmenter import OfflineSegmenter
from episodic.services import NewMessage
from memoryproject.ai.embeddings import embed_passages
from operations.fact_metrics import Matched, SourcedText, match_facts
from operations.locomo import read_samples
from semantic.engines import Action, EpisodeText, Proposal
from semantic.offline_consolidator import OfflineConsolidator

TURN = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a sample, with the observations that the data set draws from it."""

    sample_id: str
    number: int
    messages: tuple[NewMessage, ...]
    observations: tuple[SourcedText, ...]


def read_sessions(path: Path) -> list[Session]:
    """Return all sessions of LoCoMo's samples, in order.

    Raises:
        UnreadableFile: the file does not hold LoCoMo's samples.
    """
    try:
        conversations = read_conversations(path)
        samples = {str(sample["sample_id"]): sample for sample in read_samples(path)}
        sessions = [
            Session(
                sample_id=conversation.name,
                number=number,
                messages=tuple(messages),
                observations=_read_observations(samples[conversation.name], number),
            )
            for conversation in conversations
            for number, messages in groupby(conversation.messages, key=_session_number)
        ]
    except UnreadableFile as error:
        raise UnreadableFile(f"{path} does not hold LoCoMo's samples: {error}") from error
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UnreadableFile(f"{path} does not hold LoCoMo's samples with observations.") from error
    if not sessions:
        raise UnreadableFile(f"{path} holds no session.")
    return sessions


def _session_number(message: NewMessage) -> int:
    """Return the session that a message's turn id names."""
    return int(read_turns(message.metadata["dia_id"])[0][1:].split(":")[0])


def read_turns(given: object) -> tuple[str, ...]:
    """Return the turn ids in a text or a list of texts, as D<session>:<turn>."""
    text = " ".join(map(str, given)) if isinstance(given, list) else str(given)
    return tuple(f"D{int(session)}:{int(turn)}" for session, turn in TURN.findall(text))


def _read_observations(sample: Mapping[str, Any], number: int) -> tuple[SourcedText, ...]:
    by_speaker = sample["observation"].get(f"session_{number}_observation", {})
    return tuple(
        SourcedText(text=observation[0].strip(), turns=frozenset(read_turns(observation[1])))
        for observations in by_speaker.values()
        for observation in observations
    )


def draw_facts(session: Session) -> list[SourcedText]:
    """Return the facts that the pipeline opens from a session of which nothing is known.

    As after a flush: the window is cut as the product cuts it, then all episodes are
    consolidated in one run. A fact has the turns of its own proposal and of those that
    reinforce it.
    """
    turns = {seq: message.metadata["dia_id"] for seq, message in enumerate(session.messages)}
    proposals = (
        OfflineConsolidator(embed=embed_passages)
        .consolidate(episodes=cut_episodes(session), known=())
        .proposals
    )
    return [
        SourcedText(
            text=proposal.fact,
            turns=frozenset(turn for seq in seqs for turn in read_turns(turns[seq])),
        )
        for proposal, seqs in _opened(proposals)
    ]


def cut_episodes(session: Session) -> list[EpisodeText]:
    """Return the session's episodes, cut as a flush cuts them.

    It looks at `window.DOUBLED_SIZE` messages at a time; while more wait, the last of
    several segments stays open and begins the next look.
    """
    lines = [_to_line(seq, message) for seq, message in enumerate(session.messages)]
    vectors = embed_passages([line.text for line in lines])
    episodes: list[EpisodeText] = []
    start = 0
    while start < len(lines):
        stop = min(start + window.DOUBLED_SIZE, len(lines))
        segments = (
            OfflineSegmenter()
            .segment(
                lines=lines[start:stop],
                vectors=vectors[start:stop],
                previous_summary=episodes[-1].summary if episodes else "",
            )
            .segments
        )
        closing = window.decide_closing(
            found=len(segments), doubled=True, everything=stop == len(lines)
        )
        closed = segments[: closing.segments]
        for segment in closed:
            run = lines[start + segment.first : start + segment.last + 1]
            episodes.append(EpisodeText(segment.title, segment.summary, tuple(run)))
        start += closed[-1].last + 1
    return episodes


def _to_line(seq: int, message: NewMessage) -> Line:
    return Line(seq, message.role, message.name, message.content, message.occurred_at)


def _opened(proposals: Sequence[Proposal]) -> Iterator[tuple[Proposal, list[int]]]:
    """Yield each proposal that opens a fact, with the messages that support it."""
    for index, proposal in enumerate(proposals):
        if proposal.action in {Action.NEW, Action.UPDATE}:
            again = [
                seq
                for later in proposals
                if later.action is Action.REINFORCE and later.alias == f"P{index}"
                for seq in later.seqs
            ]
            yield proposal, [*proposal.seqs, *again]


def compare_all(
    sessions: Sequence[Session], *, least_cosine: float, report: Callable[[int], None]
) -> tuple[list[Matched], list[dict[str, Any]]]:
    """Return what matched in each session, and the facts in the scorer's format."""
    matched: list[Matched] = []
    rows: list[dict[str, Any]] = []
    for session in sessions:
        facts = draw_facts(session)
        matched.append(match_session(session, facts, least_cosine=least_cosine))
        written = [{"text": fact.text, "dia_ids": sorted(fact.turns)} for fact in facts]
        rows.append({"sample_id": session.sample_id, "session": session.number, "facts": written})
        report(1)
    return matched, rows


def match_session(
    session: Session, facts: Sequence[SourcedText], *, least_cosine: float
) -> Matched:
    """Match the facts with the session's observations by the configured embedder."""
    wanted = session.observations
    cosines = (
        embed_passages([fact.text for fact in facts])
        @ embed_passages([observation.text for observation in wanted]).T
    )
    return match_facts(facts, wanted, cosines=cosines, least_cosine=least_cosine)
