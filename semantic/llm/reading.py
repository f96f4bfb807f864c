"""Reads a model's answer: which changes to make, which to suggest, which to leave out.

No row is accepted on the model's word alone: each needs messages that were shown, and a fact is
ended only by a statement about the same person and subject.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time

from episodic.anchor_checks import check_dates, read_span
from episodic.engines import Line
from indexing.detection import find_languages
from memoryproject.ai.prompts import repeats_example
from memoryproject.text.cleaning import drop_unseen
from semantic.endings import may_end, may_replace
from semantic.engines import Action, Category, EpisodeText, KnownFact, Proposal
from semantic.keywords import pick_keywords
from semantic.llm import replies
from semantic.llm.evidence import Source, add_question, find_source
from semantic.pasted import strip_pasted
from semantic.topics import find_shared, find_subject, read_topics, read_topics_of_fact

AnyReply = replies.NewReply | replies.UpdateReply | replies.ReinforceReply | replies.InvalidateReply
UNKNOWN = ""
"""Placeholder alias of a fact that was never shown."""
EXAMPLE = "example"
"""Note of a row that only repeats the prompt's example."""
PASTED = "pasted"
"""Note of a row that attributes to a speaker what only a pasted text says."""
NO_SOURCE = "no_source"
"""Note of a row that names no message that was shown, and that no message supports."""
NOBODY_ELSES = frozenset({Category.IDENTITY, Category.PREFERENCE, Category.PERSONALITY})
"""Categories of facts that people state about themselves: in a pasted email, about its author."""
OTHER_SUBJECT = "other_subject"
"""Reason of a suggestion to end a fact, when the new one seems to be about something else."""
NOT_YET = "not_yet"
"""Reason of a suggestion to end a fact, when the change lies in the future."""
ALIAS = re.compile(r"[^\w-]*(?:[Ff]|[Ff]act\W*)?(\d{1,6})\W*(?:[\[(:].*)?", re.DOTALL)
"""Pattern of a fact's alias: its number counts; a fact repeated after it is ignored."""
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of the `episodes` that one question showed: the messages `seqs`."""

    episodes: Sequence[EpisodeText]
    seqs: frozenset[int]
    known: Sequence[KnownFact]
    material: str

    @property
    def people(self) -> frozenset[str]:
        """The names of the speakers."""
        lines = (line for episode in self.episodes for line in episode.lines)
        return frozenset(line.name for line in lines if line.name)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an answer, parsed.

    `note`: why it is left out, with its `text`. `ends`: the alias of a fact that a curator should
    decide to end or not, for the `reason`, at `valid_until`.
    """

    proposal: Proposal | None = None
    note: str = ""
    text: str = ""
    ends: str = ""
    reason: str = ""
    valid_until: datetime | None = None


def read_reply(reply: replies.ConsolidationReply, shown: Shown) -> list[Row]:
    """Return each row of an answer, parsed, in order."""
    return [_read_row(action, row, shown) for action, row in _iterate(reply)]


def find_doubt(reply: replies.ConsolidationReply, shown: Shown) -> str:
    """Return what the model should answer better; empty: nothing. Quotes no message."""
    rows = [(action, row) for action, row in _iterate(reply) if not _is_example(row, shown)]
    lost = sum(
        action is not Action.NEW and find_fact(getattr(row, "ref", ""), shown.known) is None
        for action, row in rows
    )
    if lost:
        names = f"one of F1 to F{len(shown.known)}" if shown.known else "nothing: no fact is held"
        return f"In {lost} rows `ref` names no fact held; it can be {names}."
    languages = _find_other_language(
        [
            (row.text, _read_own_words(source))
            for _, row in rows
            if isinstance(row, replies.NewReply | replies.UpdateReply)
            and (source := _find_source(row, row.text, shown))
        ]
    )
    if languages:
        return "Messages are in the language {!r}, their facts in {!r}.".format(*languages)
    return ""


def _find_other_language(rows: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the languages of messages and of their facts if these clearly differ, else None.

    A row is a sentence of the model, and the text of its messages. All rows are read as one text,
    as a single fact is too short to tell; one that is long enough is read by itself, too.
    """
    sentences, said = ([row[side] for row in rows] for side in (0, 1))
    together = (" ".join(sentences), " ".join(dict.fromkeys(said)))
    for sentence, messages in (together, *rows):
        written, spoken = find_languages(sentence), find_languages(messages)
        if written and spoken and not set(written) & set(spoken):
            return spoken[0], written[0]
    return None


def find_fact(ref: str, known: Sequence[KnownFact]) -> KnownFact | None:
    """Return the fact with that alias, or that number ("f1", "[F1]", "1"), or that sentence.

    None where that is none of the known facts, or several. An alias of another kind, such as
    "P0" or the "X1" of the prompt's example, names no fact.
    """
    named = ref.strip()
    sentence = _read_words(named)
    same = [fact for fact in known if sentence and _read_words(fact.fact) == sentence]
    if len(same) == 1:
        return same[0]
    match = ALIAS.fullmatch(named)
    alias = f"F{int(match[1])}" if match else ""
    return next((fact for fact in known if fact.alias == alias), None)


def _read_words(text: str) -> str:
    return " ".join(WORD.findall(text.casefold()))


def _iterate(reply: replies.ConsolidationReply) -> Iterator[tuple[Action, AnyReply]]:
    for kind, rows in reply:
        for row in rows:
            yield Action(kind), row


def _is_example(row: AnyReply, shown: Shown) -> bool:
    """Return whether a row is copied from the prompt's example: by negative numbers, or names."""
    is_numbered_so = bool(row.msgs) and max(row.msgs) < 0
    return is_numbered_so or repeats_example(getattr(row, "text", ""), material=shown.material)


def _read_own_words(source: Source) -> str:
    return " ".join(strip_pasted(line.content) for line in source[1])


def _is_pasted(row: AnyReply, source: Source, people: Collection[str]) -> bool:
    """Return whether a row attributes to a speaker what only a pasted text says of its author."""
    if not isinstance(row, replies.NewReply | replies.UpdateReply) or row.cat not in NOBODY_ELSES:
        return False
    subject = find_subject(row.text)
    if subject and not any(name.casefold().startswith(subject) for name in people):
        return False
    topics = read_topics_of_fact(row.text, people=people)
    whole = " ".join(line.content for line in source[1])
    if find_shared(topics, read_topics(_read_own_words(source), people=people)):
        return False
    return bool(find_shared(topics, read_topics(whole, people=people)))


def _find_source(row: AnyReply, sentence: str, shown: Shown) -> Source | None:
    return find_source(
        row.msgs, sentence, episodes=shown.episodes, seqs=shown.seqs, people=shown.people
    )


def _read_row(action: Action, row: AnyReply, shown: Shown) -> Row:
    if _is_example(row, shown):
        return Row(note=EXAMPLE, text=getattr(row, "text", ""))
    ref = getattr(row, "ref", None)
    known = None if ref is None else find_fact(ref, shown.known)
    sentence = getattr(row, "text", "") or (known.fact if known else "")
    source = _find_source(row, sentence, shown)
    if source is None and sentence.strip():
        return Row(note=NO_SOURCE, text=sentence)
    if source and _is_pasted(row, source, shown.people):
        return Row(note=PASTED, text=sentence)
    proposal = _propose(action, row, known, source)
    return _doubt_ending(proposal, row, known, source, shown) if known and source else Row(proposal)


def _doubt_ending(
    proposal: Proposal, row: AnyReply, known: KnownFact, source: Source, shown: Shown
) -> Row:
    """Return the row, turned into a suggestion if it may be wrong to end the known fact."""
    lines, people = add_question(source, shown.episodes), shown.people
    if isinstance(row, replies.UpdateReply):
        is_about_it = may_replace(
            known, proposal.fact, category=row.cat, lines=lines, people=people
        )
    elif isinstance(row, replies.InvalidateReply):
        is_about_it = may_end(known, lines, people=people)
    else:
        return Row(proposal)
    latest = max(line.at for line in source[1])
    # A plan may be replaced by another one; a present fact only ends when the time comes.
    is_plan = known.category == Category.GOAL or known.valid_at > latest
    starts = proposal.valid_at
    is_to_come = starts is not None and starts.date() > latest.date() and not is_plan
    if is_about_it and not is_to_come:
        return Row(proposal)
    reason = NOT_YET if is_about_it else OTHER_SUBJECT
    if isinstance(row, replies.InvalidateReply):
        return Row(ends=known.alias, reason=reason, valid_until=proposal.valid_at)
    category = proposal.category if is_about_it else row.cat or Category.EXPERIENCE
    new = replace(proposal, action=Action.NEW, alias=None, category=category)
    return Row(new, ends=known.alias, reason=reason)


def _propose(
    action: Action, row: AnyReply, known: KnownFact | None, source: Source | None
) -> Proposal:
    """Return a change: one that states a fact, or one about a known fact, whose sentence stays."""
    index, lines = source or (None, [])
    category = Category(known.category) if known else Category.EXPERIENCE
    fact = known.fact if known else ""
    keywords: tuple[str, ...] = ()
    since, until = min((line.at for line in lines), default=None), None
    if isinstance(row, replies.InvalidateReply):
        since = _read_day(row.until) or since
    elif isinstance(row, replies.NewReply | replies.UpdateReply):
        fact, keywords = _word(row.text, lines)
        category = category if known else row.cat or category
        first, _, last = row.when.partition("/")
        since, until = _read_day(first) or since, _read_last_day(last)
    return Proposal(
        action=action,
        alias=None if action is Action.NEW else known.alias if known else UNKNOWN,
        category=category,
        fact=fact,
        keywords=keywords,
        valid_at=since,
        episode=index,
        seqs=tuple(line.seq for line in lines),
        valid_until=until if since and until and until > since else None,
    )


def _word(text: str, lines: Sequence[Line]) -> tuple[str, tuple[str, ...]]:
    """Return a model's sentence with wrong dates removed, and its keywords."""
    fact = " ".join(check_dates(drop_unseen(text), lines=lines).split())
    speaker = next((line.name for line in lines if line.name and line.name in fact), "")
    return fact, pick_keywords(fact, speaker=speaker)


def _read_day(text: str) -> datetime | None:
    """Return the first moment of a day, month or year that a model names, if it can be read."""
    span = read_span(text)
    return datetime.combine(span[0], time.min, tzinfo=UTC) if span else None


def _read_last_day(text: str) -> datetime | None:
    """Return the start of the last day of a period that a model names: "2026-11" gives the 30th."""
    span = read_span(text)
    return datetime.combine(span[1], time.min, tzinfo=UTC) if span else None
