"""The messages behind a proposal: who says it, and who only repeats what we served."""

from __future__ import annotations

from collections.abc import Sequence

from episodic.engines import Line
from episodic.models import Role
from semantic.echoes import Echoes, content_words, first_of_all
from semantic.engines import Action, EpisodeText, Proposal, Served
from semantic.merge import read_roles

CLEARLY_MORE = 2
"""Times as many words: an assistant that confirms a wish in other words does not take it over."""


class Sources:
    """Looks up the lines of one run; `quotes` says that some quoted an answer and were cut."""

    def __init__(self, texts: Sequence[EpisodeText], *, quotes: bool) -> None:
        self._texts = texts
        self._quotes = quotes
        self._echoes = Echoes(one for text in texts for one in text.served)

    def is_said_by(self, proposal: Proposal, *, role: str) -> bool:
        """Return whether somebody of that role said one of the messages that are named."""
        return any(line.role == role for line in self._named(proposal))

    def is_of_users_alone(self, proposal: Proposal) -> bool:
        """Return whether users said it, and nobody else put it to them.

        A model that obeys a message names other ones as its source: where somebody who is
        no user says far more of a sentence than the users who are named, it is his.
        """
        named = self._named(proposal)
        if not named or any(line.role != Role.USER for line in named):
            return False
        others = [line for line in self._lines() if line.role != Role.USER]
        return not self._says_more(proposal.fact, others, than=named, by=CLEARLY_MORE)

    def is_of_tools(self, proposal: Proposal) -> bool:
        """Return whether a tool said it: it alone is named, or says more of it than any user."""
        named = self._named(proposal)
        if named and all(line.role == Role.TOOL for line in named):
            return True
        tools = [line for line in self._lines() if line.role == Role.TOOL]
        people = [line for line in named or self._lines() if _is_person(line)]
        return self._says_more(proposal.fact, tools, than=people, by=1)

    def _says_more(
        self, fact: str, lines: Sequence[Line], *, than: Sequence[Line], by: int
    ) -> bool:
        """Return whether one line holds over `by` times the words of a fact that others do."""
        words = set(content_words(fact)) - set(content_words(" ".join(read_roles(fact)[:1])))
        said = {word for line in than for word in content_words(line.content)}
        most = max(
            (len(words.intersection(content_words(line.content))) for line in lines), default=0
        )
        return most > by * len(words & said)

    def find_echo(self, proposal: Proposal, *, held: str = "") -> Served | None:
        """Return what was served, if nobody but an echo of it says what `proposal` says.

        `held` is the sentence of the fact that would gain evidence: what repeats it does
        not confirm it, however the engine words that.
        """
        named = self._named(proposal)
        if proposal.action is Action.INVALIDATE:
            # Its sentence may be that of the fact to end; what counts is what is said.
            return first_of_all([self._echoes.find_origin_of_all(line) for line in named])
        sentences = [sentence for sentence in (proposal.fact, held) if sentence]
        lines = named or self._speaking(proposal, sentences)
        if lines or not self._quotes:
            return first_of_all([self._find_origin(sentences, line) for line in lines])
        return next(filter(None, map(self._echoes.find_known, sentences)), None)

    def own_seqs(self, proposal: Proposal, *, held: str = "") -> tuple[int, ...]:
        """Return the messages named that are evidence: those that are no echoes."""
        sentences = [sentence for sentence in (proposal.fact, held) if sentence]
        echoed = {line.seq for line in self._named(proposal) if self._find_origin(sentences, line)}
        return tuple(seq for seq in proposal.seqs if seq not in echoed)

    def _lines(self) -> list[Line]:
        return [line for text in self._texts for line in text.lines]

    def _named(self, proposal: Proposal) -> list[Line]:
        if proposal.episode is None or not 0 <= proposal.episode < len(self._texts):
            return []
        lines = self._texts[proposal.episode].lines
        return [line for line in lines if line.seq in proposal.seqs]

    def _speaking(self, proposal: Proposal, sentences: Sequence[str]) -> list[Line]:
        """Return the lines that share a word with `sentences`, for who names no message."""
        asked = self._texts
        if proposal.episode is not None:
            asked = self._texts[proposal.episode : proposal.episode + 1]
        words = {word for each in sentences for word in content_words(each)}
        words -= {name for each in sentences for name in read_roles(each)[:1]}
        return [
            line
            for text in asked
            for line in text.lines
            if words.intersection(content_words(line.content))
        ]

    def _find_origin(self, sentences: Sequence[str], line: Line) -> Served | None:
        found = (self._echoes.find_origin(sentence, line=line) for sentence in sentences)
        return next(filter(None, found), None)


def _is_person(line: Line) -> bool:
    """A user, or an assistant with a name: of two people one is posted as the assistant."""
    return line.role == Role.USER or (line.role == Role.ASSISTANT and bool(line.name))
