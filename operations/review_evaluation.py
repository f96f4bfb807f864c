"""Asking the offline reviewer about episodes of which is known whether they were used.

A case is one answer: five episodes of a LoCoMo conversation served for one of its
questions, and thirty messages: the question, perhaps the answer, and talk of another day.
Episodes with evidence for the question are used where it is answered; nothing else is.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from episodic.discourse_cues import content_words
from episodic.engines import Line, Rating, ServedEpisode, Vectors
from episodic.headlines import headline
from episodic.loading import UnreadableFile
from episodic.offline_reviewer import measure_served, rate_uses
from episodic.services import NewMessage
from memoryproject.ai.embeddings import embed_passages, embed_query
from operations.fact_evaluation import Session, cut_episodes, read_sessions, read_turns
from operations.locomo import read_samples
from operations.segmentation_evaluation import SOME_TIME

SERVED = 5
LINES_AFTER = 30
"""As many episodes as a call serves and as many messages as a review reads."""
ANSWERABLE = (1, 2, 3, 4)
"""LoCoMo's fifth category asks for what was never said."""

USED = "used: told in sentences"
USED_BRIEFLY = "used: answered in a word"
HIDDEN = "used: what its summary leaves out"
BESIDE = "unused: served beside a used one"
UNANSWERED = "unused: never answered"
STRANGERS = "unused: other people's talk"
GROUPS = (USED, USED_BRIEFLY, HIDDEN, BESIDE, UNANSWERED, STRANGERS)
SHOWN_FROM = 0.5
"""A turn is in a summary if this share of its content words is."""


@dataclass(frozen=True, slots=True)
class Told:
    """An episode as it is served, the turns that it holds and those that its summary tells."""

    title: str
    summary: str
    turns: frozenset[str]
    shown: frozenset[str]
    vector: Vectors


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer in a word, and in the sentences of the observations."""

    text: str
    answer: str
    sentences: str
    turns: frozenset[str]


@dataclass(frozen=True, slots=True)
class Story:
    """One conversation: its episodes, its questions, its talk by session number."""

    sample_id: str
    episodes: tuple[Told, ...]
    questions: tuple[Question, ...]
    talks: Mapping[int, tuple[Line, ...]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one served episode was judged; `use` is the strongest line's."""

    group: str
    use: float
    rating: Rating


def read_stories(path: Path, *, part: slice) -> list[Story]:
    """Return that part of LoCoMo's conversations, cut into episodes session by session.

    Raises:
        UnreadableFile: the file does not hold LoCoMo's samples with questions.
    """
    sessions = groupby(read_sessions(path), key=lambda session: session.sample_id)
    by_sample = [(sample_id, list(group)) for sample_id, group in sessions]
    try:
        samples = {str(sample["sample_id"]): sample for sample in read_samples(path)}
        stories = [
            _to_story(sample_id, group, samples[sample_id]["qa"])
            for sample_id, group in by_sample[part]
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise UnreadableFile(f"{path} does not hold LoCoMo's samples with questions.") from error
    if not any(story.questions for story in stories):
        raise UnreadableFile(f"{path} holds no question with an answer and evidence.")
    return stories


def _to_story(
    sample_id: str, sessions: Sequence[Session], asked: Sequence[Mapping[str, Any]]
) -> Story:
    episodes = tuple(told for session in sessions for told in _tell(session))
    observations = [item for session in sessions for item in session.observations]
    questions = []
    for given in asked:
        turns = frozenset(read_turns(given.get("evidence", [])))
        if given["category"] in ANSWERABLE and turns and "answer" in given:
            said = [item.text for item in observations if item.turns & turns]
            questions.append(
                Question(given["question"], str(given["answer"]), " ".join(said), turns)
            )
    talks = {session.number: tuple(map(_to_line, session.messages)) for session in sessions}
    return Story(sample_id, episodes, tuple(questions), talks)


def _tell(session: Session) -> list[Told]:
    episodes = cut_episodes(session)
    vectors = embed_passages(
        [headline(title=episode.title, summary=episode.summary) for episode in episodes]
    )
    told = []
    for episode, vector in zip(episodes, vectors, strict=True):
        words = content_words(f"{episode.title} {episode.summary}")
        turns: dict[str, bool] = {}
        for line in episode.lines:
            said = content_words(line.content)
            shown = len(said & words) >= max(1, SHOWN_FROM * len(said))
            ids = read_turns(session.messages[line.seq].metadata["dia_id"])
            turns |= dict.fromkeys(ids, shown)
        visible = frozenset(turn for turn, shown in turns.items() if shown)
        told.append(Told(episode.title, episode.summary, frozenset(turns), visible, vector))
    return told


def _to_line(message: NewMessage) -> Line:
    return Line(0, message.role, message.name, message.content, message.occurred_at)


def judge_stories(
    stories: Sequence[Story], *, questions: int, seed: int, report: Callable[[int], None]
) -> list[Outcome]:
    """Return how each served episode was judged, for that many questions a conversation.

    Deterministic: the seed draws the questions and the talk after each.
    """
    chance = random.Random(seed)
    outcomes: list[Outcome] = []
    for story, other in zip(stories, [*stories[1:], *stories[:1]], strict=True):
        for question in draw_questions(story, questions, chance=chance):
            outcomes += judge_question(story, other, question, chance=chance)
        report(1)
    return outcomes


def draw_questions(story: Story, at_most: int, *, chance: random.Random) -> list[Question]:
    """Return questions with an episode that holds evidence and observations that tell it."""
    fit = [
        question
        for question in story.questions
        if question.sentences and any(told.turns & question.turns for told in story.episodes)
    ]
    return chance.sample(fit, min(at_most, len(fit)))


def judge_question(
    story: Story, other: Story, question: Question, *, chance: random.Random
) -> list[Outcome]:
    """Let the reviewer judge what one answer served, after four kinds of talk."""
    evidence, beside = choose_served(story, question)
    served = [*evidence, *beside]
    asked = _say("user", question.text)
    known = question.turns.union(*(told.turns for told in served))
    same = _draw_talk(story, known, chance)
    strange = _draw_talk(other, frozenset(), chance)
    outcomes = []
    for answer, group in ((question.sentences, USED), (question.answer, USED_BRIEFLY)):
        judged = _judge(question, served, [asked, _say("assistant", answer), *same])
        for told, found in zip(served, judged, strict=True):
            shown = group if told.shown & question.turns else HIDDEN
            outcomes.append(Outcome(shown if told.turns & question.turns else BESIDE, *found))
    for talk, group in ((same, UNANSWERED), (strange, STRANGERS)):
        outcomes += [Outcome(group, *found) for found in _judge(question, served, [asked, *talk])]
    return outcomes


def choose_served(story: Story, question: Question) -> tuple[list[Told], list[Told]]:
    """Return the episodes with evidence and the nearest others, five in all, best first."""
    query = embed_query(question.text)
    ranked = sorted(story.episodes, key=lambda told: -float(told.vector @ query))
    evidence = [told for told in ranked if told.turns & question.turns][:SERVED]
    beside = [told for told in ranked if not told.turns & question.turns]
    return evidence, beside[: SERVED - len(evidence)]


def _draw_talk(story: Story, avoided: frozenset[str], chance: random.Random) -> list[Line]:
    """Return the first messages of a session that holds none of those turns; none if all do."""
    taken = {int(turn[1:].split(":")[0]) for turn in avoided}
    free = [number for number in story.talks if number not in taken]
    return list(story.talks[chance.choice(free)][:LINES_AFTER]) if free else []


def _say(role: str, words: str) -> Line:
    return Line(0, role, "", words, SOME_TIME)


def _judge(
    question: Question, served: Sequence[Told], after: Sequence[Line]
) -> list[tuple[float, Rating]]:
    """Return the strongest use and the rating of each served episode."""
    lines = after[:LINES_AFTER]
    uses = measure_served(
        served=[
            ServedEpisode(f"E{number}", question.text, told.title, told.summary, told.vector)
            for number, told in enumerate(served, start=1)
        ],
        lines=lines,
        vectors=embed_passages([line.text for line in lines]),
    )
    return [(max(found), rate_uses(found)) for found in uses]


def count_ratings(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Return how many episodes of each group got each rating."""
    return {
        group: {
            rating.value: sum(o.group == group and o.rating is rating for o in outcomes)
            for rating in Rating
        }
        for group in GROUPS
    }


def areas(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Return how well uses tell each used group from each of the others."""
    uses = {group: [o.use for o in outcomes if o.group == group] for group in GROUPS}
    return {
        group: {
            unused: area_under_curve(uses[group], uses[unused])
            for unused in (BESIDE, UNANSWERED, STRANGERS)
        }
        for group in (USED, USED_BRIEFLY, HIDDEN)
    }


def area_under_curve(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return how often a positive lies above a negative, ties counting half; .5 is chance."""
    if not positive or not negative:
        return 0.5
    below = np.sort(np.array(negative))
    left = np.searchsorted(below, positive, side="left")
    right = np.searchsorted(below, positive, side="right")
    return float((left + right).mean() / 2 / len(negative))
