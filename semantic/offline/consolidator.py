"""Extracts facts from episodes without a language model, as literal quotations of the speakers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from episodic.engines import Line
from memoryproject.text.dates import anchor_times
from memoryproject.text.words import content_stems
from semantic import engines
from semantic.engines import PassedOver, Why
from semantic.keywords import pick_keywords
from semantic.offline import heads, judging
from semantic.offline.corrections import corrects
from semantic.offline.own_words import read_own_sentences
from semantic.offline.quotations import parse_quote, quote
from semantic.offline.speakers import name_speakers
from semantic.offline.wishes import Wishes

ENGINE = "offline"
RULE = engines.Category.GUIDELINE
MODEL = "heads-4"
"""Stored with each run: facts of older engines can be made again (`learn_again --offline`)."""
FACTS_A_MESSAGE = 20
KNOWN_AT_MOST = 2_000
CHARACTERS_AT_MOST = 600
"""Largest length of a sentence; a longer text is not one."""
JOINED_AT_MOST = 300
"""Length of a fact from which on no sentence is added: it would state several things."""
JUST_SAID = 3
"""Number of the speaker's latest facts that "sorry, I meant Bergen" may correct."""
SUGGESTIONS_AT_MOST = 5
COMPARED_AT_MOST = 4
"""Number of older facts, those sharing the rarest words, that a new one is compared with."""


@dataclass(frozen=True, slots=True)
class Said:
    """One of the speaker's own sentences, when and where it was said."""

    text: str
    line: Line
    speaker: str

    @property
    def dated(self) -> str:
        """The sentence with worked-out dates in brackets."""
        return anchor_times(self.text, at=self.line.at)


@dataclass(frozen=True, slots=True)
class ActiveFact:
    """A fact active at this point of the run: a known one, or one just proposed."""

    alias: str
    category: engines.Category
    fact: str
    at: datetime
    said: tuple[Said, ...] = ()
    """Its sentences, if they were read in this episode."""

    @property
    def quotation(self) -> tuple[str, str]:
        """Speaker and words of the quotation; no speaker if the fact is not a quotation."""
        return parse_quote(self.fact) or ("", self.fact)


class OfflineConsolidator:
    """Implements `Consolidator`, on vectors of the built-in embedder."""

    known_at_most = KNOWN_AT_MOST

    def __init__(self, read: heads.Read, wishes: Wishes | None = None) -> None:
        self._read = read
        self._wishes = wishes

    def may_be_rule(self, content: str) -> bool:
        """Return whether a user's message may hold a standing instruction to an assistant."""
        return judging.Judge(self._read).may_be_rule(read_own_sentences(content))

    def consolidate(
        self, *, episodes: Sequence[engines.EpisodeText], known: Sequence[engines.KnownFact]
    ) -> engines.Consolidation:
        """Return users' statements worth keeping, in the order in which they were made."""
        run = _Run(self._read, self._wishes, episodes, known)
        before = ""
        for index, episode in enumerate(episodes):
            run.start(index)
            for line in episode.lines:
                if line.role == "user":
                    run.read(line, before=before)
                before = line.content
        return engines.Consolidation(
            proposals=tuple(run.proposals),
            engine=ENGINE,
            model=MODEL,
            suggestions=run.list_suggestions(),
            left_out=tuple(item.why for item in run.passed_over if item.why is Why.NEVER),
            passed_over=tuple(run.passed_over),
        )


class _Run:
    """The proposals of one consolidation so far, and the facts active after them."""

    def __init__(
        self,
        read: heads.Read,
        wishes: Wishes | None,
        episodes: Sequence[engines.EpisodeText],
        known: Sequence[engines.KnownFact],
    ) -> None:
        self.proposals: list[engines.Proposal] = []
        self._suggested: list[tuple[float, engines.Suggestion]] = []
        """Suggestions, each with its probability of being right."""
        self.passed_over: list[PassedOver] = []
        self._judge = judging.Judge(read, wishes)
        lines = [line for episode in episodes for line in episode.lines]
        self._has_assistant = any(line.role == "assistant" for line in lines)
        self._speakers = name_speakers(line for line in lines if line.role == "user")
        # A single speaker talks to an assistant, even if its replies are not posted.
        is_alone = len({name for name, _ in self._speakers.values()}) == 1
        self._takes_rules = self._has_assistant or is_alone
        self._active = [
            ActiveFact(fact.alias, engines.Category(fact.category), fact.fact, fact.valid_at)
            for fact in sorted(known, key=lambda fact: fact.valid_at)
        ]
        """Oldest first."""
        self._known = {fact.alias: set(content_stems(fact.fact)) for fact in self._active}
        self._episode = 0
        self._last: dict[str, Said] = {}

    @property
    def _newest(self) -> str:
        """The alias of the last proposal."""
        return f"P{len(self.proposals) - 1}"

    def start(self, episode: int) -> None:
        """Begin an episode: a fact quotes messages of one alone."""
        self._episode = episode
        self._last = {}
        self._active = [replace(item, said=()) for item in self._active]

    def read(self, line: Line, *, before: str) -> None:
        """Propose facts from one message of a user; `before`: the message before it."""
        proposed = len(self.proposals)
        speaker, content = self._speakers[line.seq]
        sentences = read_own_sentences(content)
        verdicts = self._judge.judge(
            sentences,
            line=line,
            before=before,
            has_assistant=self._has_assistant,
            takes_rules=self._takes_rules,
        )
        for sentence, verdict in zip(sentences, verdicts, strict=True):
            said = Said(sentence.text, line, speaker)
            is_full = len(self.proposals) - proposed >= FACTS_A_MESSAGE
            is_kept = not is_full and self._settle(said, verdict)
            if not is_kept:
                self.passed_over.append(PassedOver(said.text, verdict.why))
            # A sentence that depends on one not kept gives no context for the next one.
            if is_kept or verdict.gives_context:
                self._last[speaker] = said

    def _settle(self, said: Said, verdict: judging.Verdict) -> bool:
        """Keep, join or confirm a sentence; return whether some fact has it now."""
        if len(said.text) > CHARACTERS_AT_MOST or verdict.why is Why.NEVER:
            return False
        if corrects(said.text) and self._correct(said):
            return True
        replaced, is_plain = None, bool(verdict.category) or verdict.is_stated
        if is_plain or verdict.may_be_news:
            near = self._pick_near(said, must_share=not is_plain)
            replaced = self._find_replaced(said, near)
        # News about what is known is worth keeping: "They reset it, the alarm takes 4471 now." Not
        # beside a standing instruction: what is none itself is a request for now.
        if replaced and not verdict.category and replaced[0].category is RULE:
            replaced = None
        category = verdict.category or (replaced and replaced[0].category)
        if category is None:
            return False
        # What replaces a fact is a fact of its own, to be corrected by itself.
        is_news = replaced is not None and verdict.stands_alone
        context = None if is_news else self._find_context(said, verdict)
        if context is not None and self._extend(context, said, category):
            return True
        if context is None and not verdict.stands_alone and replaced is None:
            return False
        self._state((context, said) if context else (said,), category, replaced)
        return True

    def _extend(self, context: Said, said: Said, category: engines.Category) -> bool:
        """Add a sentence to the fact that was proposed last, if the two belong together.

        A standing instruction and a statement are two facts.
        """
        if not self._has_kept(context):
            return False
        last = self._active[-1]
        if (last.category is RULE) != (category is RULE):
            return False
        sentences = (*last.said, said)
        fact = _quote_all(sentences)
        if len(fact) > JOINED_AT_MOST:
            return False
        self._active[-1] = replace(last, fact=fact, at=said.line.at, said=sentences)
        self._known[last.alias] = set(content_stems(fact))
        self.proposals[-1] = replace(
            self.proposals[-1],
            fact=fact,
            keywords=pick_keywords(fact, speaker=said.speaker),
            seqs=_list_seqs(sentences),
        )
        return True

    def _has_kept(self, said: Said) -> bool:
        """Return whether the fact that was proposed last ends with a sentence."""
        last = self._active[-1] if self._active else None
        return last is not None and last.said[-1:] == (said,) and last.alias == self._newest

    def _find_context(self, said: Said, verdict: judging.Verdict) -> Said | None:
        """Return the speaker's sentence just before, if this one depends on it.

        A question is context within its message only: what comes next mostly answers somebody else.
        """
        last = self._last.get(said.speaker)
        if last is None or not verdict.leans:
            return None
        if last.line.seq != said.line.seq and last.text.endswith(heads.ASKS):
            return None
        return last if said.line.at - last.line.at <= judging.JUST_NOW else None

    def _state(
        self,
        said: tuple[Said, ...],
        category: engines.Category,
        replaced: tuple[ActiveFact, float] | None,
    ) -> None:
        """Propose a fact, or confirm the one that has the same words."""
        fact = _quote_all(said)
        for item in self._active:
            if item.fact.casefold() == fact.casefold():
                self._propose(engines.Action.REINFORCE, item.fact, said, item.category, item.alias)
                return
        alias = self._open(engines.Action.NEW, fact, said, category)
        if replaced is not None:
            old, share = replaced
            self._suggest(old.alias, alias, share=share)

    def _find_replaced(
        self, said: Said, near: Sequence[ActiveFact]
    ) -> tuple[ActiveFact, float] | None:
        """Return the older fact that a sentence most likely replaces, and how likely."""
        older = [judging.Older(item.alias, item.quotation[1], item.at) for item in near]
        replaced = self._judge.find_replaced(said.text, said.line.at, older)
        if replaced is None:
            return None
        alias, share = replaced
        return next(item for item in near if item.alias == alias), share

    def _open(
        self,
        action: engines.Action,
        fact: str,
        said: tuple[Said, ...],
        category: engines.Category,
        old: ActiveFact | None = None,
    ) -> str:
        alias = f"P{len(self.proposals)}"
        self._propose(action, fact, said, category, old.alias if old else None)
        self._active = [item for item in self._active if item is not old]
        self._active.append(ActiveFact(alias, category, fact, said[-1].line.at, said))
        self._known[alias] = set(content_stems(fact))
        return alias

    def _pick_near(self, said: Said, *, must_share: bool) -> list[ActiveFact]:
        """Return the speaker's older facts that share the rarest words with a sentence.

        `must_share`: only facts with a shared word; else facts without one come last.
        """
        stems = set(content_stems(said.text)) - set(content_stems(said.speaker))
        own = [
            item
            for item in self._active
            if item.quotation[0] == said.speaker and item.at <= said.line.at
            if not item.said or item.said[-1].line.seq != said.line.seq
        ]
        holders = {word: sum(word in self._known[item.alias] for item in own) for word in stems}
        weights = {
            item.alias: sum(1 / holders[word] for word in stems & self._known[item.alias])
            for item in own
        }
        near = sorted(own, key=lambda item: -weights[item.alias])[:COMPARED_AT_MOST]
        return [item for item in near if weights[item.alias] or not must_share]

    def _suggest(
        self, old: str, new: str | None, reason: str = "replaced", *, share: float = 1.0
    ) -> None:
        kind = engines.SuggestionKind.CONTRADICTION
        self._suggested.append((share, engines.Suggestion(kind, old, new, reason)))

    def list_suggestions(self) -> tuple[engines.Suggestion, ...]:
        """Return the most probable suggestions: people look at each of them."""
        likeliest = sorted(self._suggested, key=lambda item: -item[0])[:SUGGESTIONS_AT_MOST]
        return tuple(suggestion for _, suggestion in likeliest)

    def _correct(self, said: Said) -> bool:
        """Replace the speaker's last statement by an explicit correction of it.

        A statement of another episode is left to a person: a fact quotes only one episode.
        """
        own = [item for item in self._active if item.quotation[0] == said.speaker][-JUST_SAID:]
        recent = [item for item in own if abs(said.line.at - item.at) <= judging.JUST_NOW]
        if not recent:
            return False
        stems = set(content_stems(said.text))
        item = max(recent, key=lambda item: (len(stems & self._known[item.alias]), item.at))
        if not item.said:
            self._suggest(item.alias, None, "corrected")
            return True
        both = (item.said[-1], said)
        self._open(engines.Action.UPDATE, _quote_all(both), both, item.category, item)
        return True

    def _propose(
        self,
        action: engines.Action,
        fact: str,
        said: tuple[Said, ...],
        category: engines.Category,
        alias: str | None,
    ) -> None:
        line = said[-1].line
        self.proposals.append(
            engines.Proposal(
                action=action,
                alias=alias,
                category=category,
                fact=fact,
                keywords=pick_keywords(fact, speaker=said[-1].speaker),
                valid_at=line.at,
                episode=self._episode,
                seqs=_list_seqs(said),
            )
        )


def _list_seqs(said: Sequence[Said]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(item.line.seq for item in said))


def _quote_all(said: tuple[Said, ...]) -> str:
    """Return a quotation of sentences, with "…" where others between them are left out."""
    first, *rest = said
    text = first.dated
    for before, item in zip(said, rest, strict=False):
        adjoins = f"{before.text} {item.text}" in " ".join(item.line.content.split())
        text += f" {item.dated}" if adjoins else f" … {item.dated}"
    return quote(text, speaker=first.speaker)
