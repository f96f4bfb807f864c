"""Reads the input of a consolidation: episodes and related facts."""

import math
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from episodic import queries as episodic_queries
from episodic.engines import Line
from episodic.models import Conversation, Episode
from indexing import queries as index
from indexing.text import prepare
from memoryproject.ai.embeddings import Embedder
from semantic.echoes import Answers, cut_quotes
from semantic.engines import Category, EpisodeText, KnownFact, Served
from semantic.models import Fact
from semantic.user_facts import facts_beside, list_ids_beside

FindAnswers = Callable[[Conversation, int, int], Answers]
"""Function that returns what was served for messages from one seq to another."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The input of a run: episodes with their lines, and the facts to show.

    `served` has the memory behind each statement that answers made; `quoted` are the memories that
    messages quote from answers, which are cut out of the lines.
    """

    conversation: Conversation
    episodes: tuple[Episode, ...]
    texts: tuple[EpisodeText, ...]
    facts_by_alias: dict[str, Fact]
    """Facts by alias, most important first; the oldest is F1, so that prompts begin alike."""
    served: Mapping[Served, uuid.UUID]
    quoted: tuple[uuid.UUID, ...]
    embedding_model: str
    """Model of the vectors by which facts are compared, and of those of new facts."""
    named_users: Mapping[int, str]
    """Users named by lines as other than the conversation's user, by seq."""

    def find_user(self, seqs: Iterable[int]) -> str:
        """Return the one other user who said all these lines; empty: there is none."""
        users = {self.named_users.get(seq, "") for seq in seqs} if self.named_users else set()
        return users.pop() if len(users) == 1 else ""

    @property
    def known(self) -> list[KnownFact]:
        """The facts to show, in the form an engine takes."""
        return [
            KnownFact(
                alias, row.category, row.fact, tuple(row.keywords), row.valid_at, row.valid_until
            )
            for alias, row in self.facts_by_alias.items()
        ]


def read_snapshot(
    conversation: Conversation,
    episodes: Sequence[Episode],
    find_answers: FindAnswers,
    embedder: Embedder,
    *,
    known_at_most: int,
) -> Snapshot:
    """Load the episodes' lines and the related facts, under fresh aliases.

    Everything is read from stored rows, so a repeated run reads the same.
    """
    episode_ids = [episode.id for episode in episodes]
    messages = episodic_queries.messages_of_episodes(conversation.tenant, episode_ids)
    answers = find_answers(conversation, episodes[0].first_seq, episodes[-1].last_seq)
    texts: list[EpisodeText] = []
    quoted: list[uuid.UUID] = []
    for episode in episodes:
        lines, cut_ids = _cut_all_quotes(episodic_queries.to_lines(messages[episode.id]), answers)
        seqs = range(episode.first_seq, episode.last_seq + 1)
        served = tuple(item for item in answers.served if not item.seqs.isdisjoint(seqs))
        texts.append(EpisodeText(episode.title, episode.summary, tuple(lines), served))
        quoted += cut_ids
    talk = [line.content for text in texts for line in text.lines]
    facts = find_related(
        conversation, embedder, episode_ids=episode_ids, talk=talk, at_most=known_at_most
    )
    return Snapshot(
        conversation=conversation,
        episodes=tuple(episodes),
        texts=tuple(texts),
        facts_by_alias=_name_by_age(facts),
        served=answers.served,
        quoted=tuple(dict.fromkeys(quoted)),
        embedding_model=embedder.name,
        named_users={
            message.seq: message.user_id
            for several in messages.values()
            for message in several
            if message.user_id not in {"", conversation.user_id}
        },
    )


def _name_by_age(facts: Sequence[Fact]) -> dict[str, Fact]:
    """Return the facts in their order, with aliases numbered from the oldest."""
    oldest_first = sorted(facts, key=lambda fact: (fact.created_at, fact.id))
    aliases = {fact.id: f"F{number}" for number, fact in enumerate(oldest_first, start=1)}
    return {aliases[fact.id]: fact for fact in facts}


def _cut_all_quotes(lines: Sequence[Line], answers: Answers) -> tuple[list[Line], list[uuid.UUID]]:
    """Return the lines without quotations of answers, and the memories quoted.

    A line with nothing else is left out.
    """
    remaining: list[Line] = []
    quoted: list[uuid.UUID] = []
    for line in lines:
        rest, cut_ids = cut_quotes(line, answers)
        quoted += cut_ids
        if not cut_ids or any(letter.isalnum() for letter in rest):
            remaining.append(replace(line, content=rest))
    return remaining, quoted


NEAREST_FIRST = 20
LOOKED_THROUGH = 5_000
"""Number of newest facts that are considered; an engine is shown no more."""
RANK_OFFSET = 60
"""The constant k of reciprocal rank fusion."""
ALWAYS = frozenset({Category.GUIDELINE, Category.IDENTITY})


def find_related(
    conversation: Conversation,
    embedder: Embedder,
    *,
    episode_ids: Sequence[uuid.UUID],
    talk: Iterable[str],
    at_most: int,
) -> list[Fact]:
    """Return the facts to show, the most relevant first: all, if there are at most `at_most`.

    They come from all conversations of its user, if it has one. If there are more, the most similar
    come first, then guidelines and identity facts, then other similar ones. Similar means close to
    a vector of the episodes, or sharing rare words with `talk`.
    """
    newest = facts_beside(conversation).filter(invalid_at=None).order_by("-created_at", "-id")
    facts = list(newest[:LOOKED_THROUGH])
    if len(facts) <= at_most:
        return facts
    by_meaning = index.nearest_to_any(
        episode_ids,
        tenant=conversation.tenant,
        conversation_ids=list_ids_beside(conversation),
        embedder=embedder,
        at_most=2 * at_most,
    )
    score: defaultdict[uuid.UUID, float] = defaultdict(float)
    for ranking in (by_meaning, rank_by_words(facts, talk)):
        for rank, fact_id in enumerate(ranking, start=1):
            score[fact_id] += 1 / (RANK_OFFSET + rank)
    nearest = sorted(facts, key=lambda fact: -score[fact.id])
    always = [fact for fact in facts if fact.category in ALWAYS][: at_most - NEAREST_FIRST]
    ordered = [*nearest[:NEAREST_FIRST], *always, *nearest]
    return list({fact.id: fact for fact in ordered}.values())[:at_most]


def rank_by_words(facts: Sequence[Fact], talk: Iterable[str]) -> list[uuid.UUID]:
    """Return the facts that share words with `talk`, those with the most and rarest words first."""
    talk_words = {word for text in talk for word in _words(text)}
    words = {fact.id: _words(fact.fact) for fact in facts}
    holders = Counter(word for own in words.values() for word in own)
    weights = {
        fact_id: sum(math.log(1 + len(facts) / holders[word]) for word in own & talk_words)
        for fact_id, own in words.items()
    }
    return sorted(filter(weights.get, weights), key=lambda fact_id: -weights[fact_id])


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", prepare(text)))
