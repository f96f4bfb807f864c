"""Finds the messages behind a proposal: who stated it, and who only repeated an answer."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from episodic.engines import Line
from episodic.models import Role
from semantic.details import read_numbers, read_roles
from semantic.echoes import READ_AT_MOST, Echoes, content_words, first_of_all
from semantic.engines import Action, EpisodeText, Proposal, Served
from semantic.pasted import strip_pasted


class Sources:
    """Looks up the lines of one run; `quotes`: some lines quoted an answer, which was cut out."""

    def __init__(self, texts: Sequence[EpisodeText], *, quotes: bool) -> None:
        self._texts = texts
        self._lines = [line for text in texts for line in text.lines]
        self._quotes = quotes
        self._echoes = Echoes(item for text in texts for item in text.served)

    def is_said_by(self, proposal: Proposal, *, role: str) -> bool:
        """Return whether one of the named messages has this role."""
        return any(line.role == role for line in self._named(proposal))

    def is_of_users_alone(self, proposal: Proposal) -> bool:
        """Return whether users stated the fact, and nobody else suggested it.

        A model tricked by a message may name other messages as the source. So if somebody who is
        not a user says far more of the sentence than the named users, it is not theirs. Nor is what
        users paste or quote.
        """
        named = self._named(proposal)
        if not named or any(line.role != Role.USER for line in named):
            return False
        others = [_read_foreign(line) for line in self._lines]
        users = _count_said(proposal.fact, map(_read_own, named))
        if not users and any(_read_foreign(line).content for line in named):
            return False
        return self.is_vouched_for(proposal) and _most_said(proposal.fact, others) <= 2 * users

    def is_vouched_for(self, proposal: Proposal) -> bool:
        """Return whether named people say a word of the fact, or there is no tool's line.

        A tool may say a fact in another language, or in hidden text.
        """
        if not any(line.role in {Role.TOOL, Role.SYSTEM} for line in self._lines):
            return True
        return _count_said(proposal.fact, filter(_is_person, self._named(proposal))) > 0

    def is_of_tools(self, proposal: Proposal) -> bool:
        """Return whether a tool said more of the fact than the named people did.

        If a tool is named, too, people must have said some of it.
        """
        named = self._named(proposal)
        tools = _most_said(proposal.fact, [row for row in self._lines if row.role == Role.TOOL])
        people = _count_said(proposal.fact, filter(_is_person, named or self._lines))
        return tools > people or (not people and any(line.role == Role.TOOL for line in named))

    def find_echo(self, proposal: Proposal, *, sentence: str = "") -> Served | None:
        """Return the served statement if `proposal` comes only from repetitions of it.

        `sentence` is that of the fact that would gain evidence: repeating it confirms nothing,
        even if the engine words it anew.
        """
        named = self._named(proposal)
        if proposal.action is Action.INVALIDATE:
            # The row's sentence may be that of the fact to end, so the messages decide.
            return first_of_all([self._echoes.find_origin_of_all(line) for line in named])
        sentences = [text for text in (proposal.fact, sentence) if text]
        lines = named or self._speaking(proposal, sentences)
        if lines or not self._quotes:
            return first_of_all([self._find_origin(sentences, line) for line in lines])
        return next(filter(None, map(self._echoes.find_known, sentences)), None)

    def own_seqs(self, proposal: Proposal, *, sentence: str = "") -> tuple[int, ...]:
        """Return the named messages that are evidence: those that are no echoes."""
        sentences = [text for text in (proposal.fact, sentence) if text]
        echoed = {line.seq for line in self._named(proposal) if self._find_origin(sentences, line)}
        return tuple(seq for seq in proposal.seqs if seq not in echoed)

    def find_moment(self, proposal: Proposal) -> datetime | None:
        """Return when the last of the named messages was said; None: none is named."""
        return max((line.at for line in self._named(proposal)), default=None)

    def _named(self, proposal: Proposal) -> list[Line]:
        if proposal.episode is None:
            return []
        lines = self._texts[proposal.episode].lines
        return [line for line in lines if line.seq in proposal.seqs]

    def _speaking(self, proposal: Proposal, sentences: Sequence[str]) -> list[Line]:
        """Return lines that share a word with `sentences`, for when no message is named."""
        index = proposal.episode
        lines = self._lines if index is None else self._texts[index].lines
        words = {word for each in sentences for word in content_words(each)}
        words -= {name for each in sentences for name in read_roles(each)[:1]}
        return [line for line in lines if words.intersection(content_words(line.content))]

    def _find_origin(self, sentences: Sequence[str], line: Line) -> Served | None:
        origins = (self._echoes.find_origin(sentence, line=line) for sentence in sentences)
        return next(filter(None, origins), None)


def _read_own(line: Line) -> Line:
    """Return a user's message without pasted and quoted text."""
    return replace(line, content=strip_pasted(line.content[:READ_AT_MOST]))


def _read_foreign(line: Line) -> Line:
    """Return what is not a user's own in a message: all, or pasted and quoted text."""
    if line.role != Role.USER:
        return line
    own = set(_read_own(line).content.split())
    pasted = [word for word in line.content.split() if word not in own]
    return replace(line, content=" ".join(pasted))


def _is_person(line: Line) -> bool:
    """Whether a user speaks, or an assistant with a name: one of two people may be posted so."""
    return line.role == Role.USER or (line.role == Role.ASSISTANT and bool(line.name))


def _count_said(fact: str, lines: Iterable[Line]) -> int:
    """Return how many words and numbers of a fact, its subject left out, some lines contain."""
    words = {word for line in lines for word in _words(line.content)}
    return len((_words(fact) - _words(" ".join(read_roles(fact)[:1]))) & words)


def _most_said(fact: str, lines: Iterable[Line]) -> int:
    """Return the most words of a fact that one line contains."""
    return max((_count_said(fact, [line]) for line in lines), default=0)


def _words(text: str) -> set[str]:
    return {*content_words(text), *read_numbers(text)}
