"""Distils episodes into facts without a language model: what users state, and what ends it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from episodic.engines import Line
from memoryproject.text.sentences import Writing, detect_writing
from memoryproject.text.words import content_stems
from semantic import engines
from semantic.keywords import pick_keywords
from semantic.offline import corrections, judgements, statements
from semantic.offline.categories import classify_fact
from semantic.offline.comparisons import SHARED_STEMS_AT_LEAST, may_end
from semantic.offline.guidelines import find_guideline
from semantic.offline.messages import Sentence, read_sentences, states_something
from semantic.offline.readings import read_fact
from semantic.offline.splitting import split_claims, split_clauses
from semantic.patterns import read_table

ENGINE = "offline"
FACTS_A_MESSAGE = 20
KEYWORDS_AT_MOST = 12
KNOWN_AT_MOST = 2_000
ASKED_BY = {slot: words.split() for slot, words in read_table("asked_by").items()}
STEMS_OF_AN_INTRODUCTION = 3
"""A longer sentence tells more than a name."""
SUGGESTIONS_A_STATEMENT = 2
WORDS_OF_A_CORRECTION = 6
"""One that is so short puts right what was said last; a longer one has to name it."""
JUST_SAID = 4
"""Facts that "sorry, 71" may put right."""


class OfflineConsolidator:
    """Implements `Consolidator`. It needs no vectors: facts are compared by slot and subject."""

    known_at_most = KNOWN_AT_MOST

    def consolidate(
        self, *, episodes: Sequence[engines.EpisodeText], known: Sequence[engines.KnownFact]
    ) -> engines.Consolidation:
        """Return what users state in the episodes, in the order in which they said it."""
        run = _Run(episodes, known)
        for index, episode in enumerate(episodes):
            for line in episode.lines:
                if line.role == "user":
                    run.episode = index
                    run.read(line)
        return engines.Consolidation(
            proposals=tuple(run.proposals), engine=ENGINE, suggestions=tuple(run.suggestions)
        )


class _Run:
    """What one consolidation has proposed so far, and which facts are active after that."""

    def __init__(
        self, episodes: Sequence[engines.EpisodeText], known: Sequence[engines.KnownFact]
    ) -> None:
        self.proposals: list[engines.Proposal] = []
        self.suggestions: list[engines.Suggestion] = []
        self.episode = 0
        """The index of the episode that is read."""
        self.active: list[judgements.ActiveFact] = []
        """Oldest first."""
        newest_first = sorted(known, key=lambda fact: fact.valid_at, reverse=True)
        for fact in reversed(newest_first):
            speaker = next(iter(fact.keywords), "")
            reading = read_fact(fact.fact, speaker=speaker if speaker in fact.fact else "")
            category = engines.Category(fact.category)
            item = judgements.ActiveFact(fact.alias, category, fact.fact, reading, fact.keywords)
            self.active.append(item)
        lines = [line for episode in episodes for line in episode.lines]
        self.user_name = _find_user_name(known, lines)
        """Of the user whose messages carry no name."""
        users = [detect_writing(line.content) for line in lines if line.role == "user"]
        self.writing = max(Writing, key=users.count) if users else Writing.ENGLISH
        """How the users write, where a message does not show it."""

    def read(self, line: Line) -> None:
        """Propose what one message of a user states."""
        before = len(self.proposals)
        people: list[str] = []
        name = line.name or self.user_name
        for sentence in read_sentences(line, name=name, default=self.writing):
            if len(self.proposals) - before >= FACTS_A_MESSAGE:
                return
            # A guideline or a correction stays whole.
            is_whole = find_guideline(sentence) or corrections.is_cued(sentence)
            for clause in [sentence] if is_whole else split_clauses(sentence):
                self._read_sentence(clause, people)
            people += statements.find_people(sentence)

    def _read_sentence(self, sentence: Sentence, people: list[str]) -> None:
        guideline = find_guideline(sentence)
        if guideline is not None:
            self._settle(
                statements.Statement(guideline, sentence), category=engines.Category.GUIDELINE
            )
        name, known_name = _introduced_name(sentence), sentence.line.name
        if name and not known_name:
            self._introduce(name, sentence)
        is_own = bool(name) and name in (known_name or name)
        if guideline or (is_own and len(content_stems(sentence.text)) <= STEMS_OF_AN_INTRODUCTION):
            return
        if self._correct(sentence):
            return
        statement = statements.make_statement(sentence, people=people)
        if statement is not None:
            for part in split_claims(statement):
                self._settle(part)
        elif states_something(sentence):
            text = statements.resolve_pronoun(sentence.text, people=people)
            self._settle(statements.state(sentence, text), is_minor=True)

    def _introduce(self, name: str, sentence: Sentence) -> None:
        """Propose the name of a user; all that is said of "User" goes under it from now on."""
        user = sentence.lexicon.get("names.user")
        text = f"{user}的名字是{name}。" if user == "用户" else f"{user}'s name is {name}."
        self._settle(statements.Statement(text, replace(sentence, speaker=name)))

    def _correct(self, sentence: Sentence) -> bool:
        """Put the right value into the newest fact of the speaker that holds the wrong one."""
        speaker = sentence.speaker.lower()
        own = [item for item in reversed(self.active) if item.reading.person == speaker]
        for correction, item in _find_mistakes(sentence, own):
            if mended := corrections.mend(item.fact, correction):
                statement = statements.Statement(mended, sentence)
                self._replace(statement, [item], category=item.category)
                return True
        return False

    def _settle(
        self,
        statement: statements.Statement,
        *,
        is_minor: bool = False,
        category: engines.Category | None = None,
    ) -> None:
        """Propose one statement and what follows from it for the active facts.

        A minor one tells too little to be a fact, unless it ends one.
        """
        reading = statement.reading
        if not reading.stems and category is None:  # "Sam is Sam."
            return
        for item in self.active:
            if judgements.repeats(statement.fact, reading, item):
                self._propose(
                    engines.Action.REINFORCE, statement, alias=item.alias, category=item.category
                )
                return
        context = frozenset(content_stems(statement.sentence.before))
        compared = self.active if may_end(reading) else []
        ended = [item for item in compared if judgements.is_ended(reading, item.reading, context)]
        if not ended and reading.surely_changes:
            moved = [
                item for item in compared if judgements.may_move(reading, item.reading, context)
            ]
            ended = moved if len(moved) == 1 else []
        if is_minor and not ended:
            return
        partly = [item for item in ended if judgements.says_more(reading, item)]
        ended = [item for item in ended if item not in partly]
        doubtful = [(item, "part") for item in partly]
        doubtful += [
            (item, reason)
            for item in compared
            if item not in ended
            and (reason := judgements.find_doubt(reading, item.reading, context))
        ]
        if not ended and not doubtful:
            other = judgements.find_other_time(reading, self.active)
            doubtful = [(other, "other_time")] if other else []
        alias = self._replace(statement, ended, category=category)
        for item, reason in doubtful[-SUGGESTIONS_A_STATEMENT:]:
            kind = engines.SuggestionKind.CONTRADICTION
            self.suggestions.append(engines.Suggestion(kind, item.alias, alias, reason))

    def _replace(
        self,
        statement: statements.Statement,
        ended: list[judgements.ActiveFact],
        *,
        category: engines.Category | None = None,
    ) -> str:
        """Propose a fact in the place of others, or a new one; return its alias."""
        action = engines.Action.UPDATE if ended else engines.Action.NEW
        first = ended[-1].alias if ended else None
        alias = f"P{len(self.proposals)}"
        # "I rebooked it" is found by what "it" was: the words of the fact that it replaces.
        inherited = [word for item in ended for word in item.keywords]
        new = self._propose(action, statement, alias=first, category=category, keywords=inherited)
        for item in ended[:-1]:
            self._propose(engines.Action.INVALIDATE, statement, alias=item.alias)
        self.active = [item for item in self.active if item not in ended]
        self.active.append(
            judgements.ActiveFact(alias, new.category, new.fact, statement.reading, new.keywords)
        )
        return alias

    def _propose(
        self,
        action: engines.Action,
        statement: statements.Statement,
        *,
        alias: str | None,
        category: engines.Category | None = None,
        keywords: Sequence[str] = (),
    ) -> engines.Proposal:
        line, claims = statement.sentence.line, statement.reading.claims
        own = pick_keywords(statement.fact, speaker=statement.sentence.speaker)
        asked = [word for claim in claims for word in ASKED_BY.get(claim.slot, ())]
        proposal = engines.Proposal(
            action=action,
            alias=alias,
            category=category or classify_fact(statement.fact, claims),
            fact=statement.fact,
            keywords=tuple(dict.fromkeys((*own, *asked, *keywords)))[:KEYWORDS_AT_MOST],
            valid_at=line.at,
            episode=self.episode,
            seqs=(line.seq,),
        )
        self.proposals.append(proposal)
        return proposal


def _find_mistakes(
    sentence: Sentence, own: Sequence[judgements.ActiveFact]
) -> Iterator[tuple[corrections.Correction, judgements.ActiveFact]]:
    """Yield what a sentence may correct of the speaker's facts, the likeliest first.

    `own` are the speaker's, newest first.
    """
    for correction in corrections.find_corrections(sentence):
        topic = set(content_stems(f"{sentence.before} {sentence.text}"))
        near = [item for item in own if len(topic & item.reading.stems) >= SHARED_STEMS_AT_LEAST]
        near.sort(key=lambda item: -len(topic & item.reading.stems))
        for item in own if correction.wrong else [*near, *own[:1]]:
            yield correction, item
    words = set(content_stems(sentence.text))
    is_short = len(sentence.raw.split()) <= WORDS_OF_A_CORRECTION
    for correction in corrections.find_plain_values(sentence):
        for place, item in enumerate(own[:JUST_SAID]):
            if words & item.reading.stems or (is_short and not place):
                yield correction, item


def _find_user_name(known: Iterable[engines.KnownFact], lines: Iterable[Line]) -> str:
    """Return the name that a nameless user has told, now or in a known fact; "" if none."""
    for fact in known:
        match = re.match(r"User's name is ([^.]+)\.$|用户的名字是([^。]+)。$", fact.fact)
        if match:
            return match[1] or match[2]
    nameless = (line for line in lines if line.role == "user" and not line.name)
    sentences = (sentence for line in nameless for sentence in read_sentences(line))
    return next(filter(None, map(_introduced_name, sentences)), "")


def _introduced_name(sentence: Sentence) -> str:
    patterns = sentence.lexicon.get("names.patterns")
    matches = (re.search(pattern, sentence.raw) for pattern in patterns)
    return next((match[1] for match in matches if match), "")
