"""Ratings that the offline reviewer gives to episodes, used by an answer or served in vain.

Serves LoCoMo's episodes, as the offline engine makes them, for questions of the same
conversation, and lets the reviewer rate them by the thirty messages after: the question,
perhaps the answer, and talk of another day. Episodes with evidence for the question are used
where it is answered; nothing else is. Prints how many of each kind got each rating, and AUC:
how often a used one is judged above an unused one. Deterministic, with the configured
embedder. Needs no database.
"""

from __future__ import annotations

import random
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from bench.quality.dialogues import SOME_TIME
from bench.quality.report import Report
from bench.quality.sessions import (
    Sample,
    Session,
    cut_episodes,
    find_session,
    find_turns,
    parse_turns,
    read_sessions,
    to_line,
)
from bench.tables import area_under_curve, render_table
from episodic.engines import Line, Rating, ServedEpisode, Vectors
from episodic.offline.lexicon import find_lexicon
from episodic.offline.reviewer import measure_served, rate_uses
from memoryproject.ai.embeddings import embed_passages, embed_query
from wings.transfer.loading import UnreadableFile

PARTS = {"all": slice(None), "odd": slice(0, None, 2), "even": slice(1, None, 2)}
SERVED = 5
LINES_AFTER = 30
"""As many episodes as a call serves and as many messages as a review reads."""
ANSWERABLE = (1, 2, 3, 4)
"""LoCoMo's fifth category asks for what was never said."""
VISIBLE_FROM = 0.5
"""A turn is in a summary if this share of its content words is."""

USED = "used: told in sentences"
USED_BRIEFLY = "used: answered in a word"
HIDDEN = "used: what its summary leaves out"
BESIDE = "unused: served beside a used one"
UNANSWERED = "unused: never answered"
STRANGERS = "unused: other people's talk"
USES = (USED, USED_BRIEFLY, HIDDEN)
UNUSED = (BESIDE, UNANSWERED, STRANGERS)


@dataclass(frozen=True, slots=True)
class SourcedEpisode:
    """An episode, the turns that it holds and those of them that its summary tells."""

    title: str
    summary: str
    turns: frozenset[str]
    visible: frozenset[str]
    vector: Vectors


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question with its answer in a word, and in the sentences of the observations."""

    text: str
    answer: str
    sentences: str
    turns: frozenset[str]


@dataclass(frozen=True, slots=True)
class Story:
    """Its episodes, the questions that they answer, and its talk by session number."""

    episodes: tuple[SourcedEpisode, ...]
    questions: tuple[AnsweredQuestion, ...]
    talks: Mapping[int, tuple[Line, ...]]


Verdict = tuple[float, Rating]
"""How one served episode was judged; the first is the strongest line's use."""


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("path", type=Path, help="LoCoMo's JSON, observations included")
    most = "at most so many of each conversation (default: %(default)s)"
    parser.add_argument("--questions", type=int, default=100, help=most)
    parser.add_argument("--seed", type=int, default=0, help="draws questions and talk")
    part = "every other conversation only: the thresholds were fitted on the odd ones"
    parser.add_argument("--part", choices=PARTS, default="all", help=part)


def measure(options: Namespace) -> Report:
    """Return counts of ratings and areas under the curve, by group."""
    samples = read_sessions(options.path)[PARTS[options.part]]
    stories = [read_story(*sample) for sample in samples]
    if not any(story.questions for story in stories):
        raise UnreadableFile(f"{options.path} holds no question with an answer and evidence.")
    chance = random.Random(options.seed)
    verdicts: dict[str, list[Verdict]] = {group: [] for group in USES + UNUSED}
    others = [*stories[1:], *stories[:1]]
    bar = tqdm(stories, unit=" conversations")
    for story, other in zip(bar, others, strict=True):
        count = min(options.questions, len(story.questions))
        for question in chance.sample(story.questions, count):
            for group, verdict in judge_question(story, other, question, chance=chance):
                verdicts[group].append(verdict)
    return report_verdicts(verdicts)


def read_story(sample: Sample, sessions: Sequence[Session]) -> Story:
    """Return a conversation, cut into episodes session by session.

    Its questions have an episode that holds evidence and observations that tell it.
    """
    episodes = tuple(episode for session in sessions for episode in make_episodes(session))
    episode_turns = {turn for episode in episodes for turn in episode.turns}
    observations = [item for session in sessions for item in session.observations]
    questions = []
    for row in sample.qa:
        turns = frozenset(parse_turns(row.evidence))
        told = " ".join(item.text for item in observations if item.turns & turns)
        if row.category in ANSWERABLE and row.answer is not None and told and turns & episode_turns:
            questions.append(AnsweredQuestion(row.question, str(row.answer), told, turns))
    talks = {session.number: tuple(map(to_line, session.messages)) for session in sessions}
    return Story(episodes, tuple(questions), talks)


def make_episodes(session: Session) -> list[SourcedEpisode]:
    """Return the session's episodes with the turns that their summaries tell."""
    texts = cut_episodes(session)
    vectors = embed_passages([f"{text.title}. {text.summary}" for text in texts])
    episodes = []
    for text, vector in zip(texts, vectors, strict=True):
        find_words = find_lexicon(text.lines).content_words
        summary = find_words(f"{text.title} {text.summary}")
        turns: dict[str, bool] = {}
        for line in text.lines:
            words = find_words(line.content)
            visible = len(words & summary) >= max(1, VISIBLE_FROM * len(words))
            turns |= dict.fromkeys(find_turns(session.messages[line.seq]), visible)
        told = frozenset(turn for turn, visible in turns.items() if visible)
        episodes.append(SourcedEpisode(text.title, text.summary, frozenset(turns), told, vector))
    return episodes


def judge_question(
    story: Story, other: Story, question: AnsweredQuestion, *, chance: random.Random
) -> Iterator[tuple[str, Verdict]]:
    """Let the reviewer judge what one answer served, after four kinds of talk."""
    served = choose_served(story, question)
    asked = Line(0, "user", "", question.text, SOME_TIME)
    same = _draw_talk(story, question.turns.union(*(e.turns for e in served)), chance)
    strange = _draw_talk(other, frozenset(), chance)
    for answer, used in ((question.sentences, USED), (question.answer, USED_BRIEFLY)):
        told = Line(0, "assistant", "", answer, SOME_TIME)
        verdicts = _judge(question, served, [asked, told, *same])
        for episode, verdict in zip(served, verdicts, strict=True):
            group = used if episode.visible & question.turns else HIDDEN
            yield group if episode.turns & question.turns else BESIDE, verdict
    for talk, unused in ((same, UNANSWERED), (strange, STRANGERS)):
        for verdict in _judge(question, served, [asked, *talk]):
            yield unused, verdict


def choose_served(story: Story, question: AnsweredQuestion) -> list[SourcedEpisode]:
    """Return five episodes: those with evidence, then the nearest others, each best first."""
    query = embed_query(question.text)

    def rank(episode: SourcedEpisode) -> tuple[bool, float]:
        return not episode.turns & question.turns, -float(episode.vector @ query)

    return sorted(story.episodes, key=rank)[:SERVED]


def _draw_talk(story: Story, avoided: frozenset[str], chance: random.Random) -> list[Line]:
    """Return the first messages of a session that holds none of those turns; none if all do."""
    taken = set(map(find_session, avoided))
    free = [number for number in story.talks if number not in taken]
    return list(story.talks[chance.choice(free)][:LINES_AFTER]) if free else []


def _judge(
    question: AnsweredQuestion, served: Sequence[SourcedEpisode], after: Sequence[Line]
) -> list[Verdict]:
    lines = after[:LINES_AFTER]
    episodes = [
        ServedEpisode(f"E{number}", question.text, e.title, e.summary, e.vector)
        for number, e in enumerate(served, start=1)
    ]
    vectors = embed_passages([line.text for line in lines])
    uses = measure_served(served=episodes, lines=lines, vectors=vectors)
    return [(max(use), rate_uses(use)) for use in uses]


def report_verdicts(verdicts: Mapping[str, Sequence[Verdict]]) -> Report:
    """Return counts of each rating in each group, and the areas under the curve."""
    counts = {
        group: {rating.value: sum(r is rating for _, r in own) for rating in Rating}
        for group, own in verdicts.items()
    }
    uses = {group: [use for use, _ in own] for group, own in verdicts.items()}
    areas = {used: {un: area_under_curve(uses[used], uses[un]) for un in UNUSED} for used in USES}
    shown = [(group, *own.values()) for group, own in counts.items()]
    tables = [
        render_table(["episodes", *(rating.value for rating in Rating)], shown),
        render_table(["AUC", *UNUSED], [(used, *row.values()) for used, row in areas.items()]),
    ]
    return Report({"ratings": counts, "auc": areas}, "\n\n".join(tables))
