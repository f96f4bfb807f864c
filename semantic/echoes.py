"""Detects when a message only repeats what an answer served, and cuts quotes of answers.

An agent that was served "Ana lives in Porto" says "As you live in Porto, …". That is not new
evidence: the server would only confirm itself. There are two kinds of echo. Text that an answer
printed, quoted by anybody, is cut out before a message is read. Sentences in the agent's own words
are compared with the answers word by word.
"""

import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from episodic.engines import Line
from indexing.text import UNSPACED, prepare
from memoryproject.text.sentences import split_sentences
from memoryproject.text.words import STOP_WORDS, read_words, stem
from semantic import details
from semantic.duplicates import SOFT_CHARACTERS, SOFT_WORDS
from semantic.engines import Served

ECHOING_ROLES = frozenset({"assistant", "system", "tool"})
"""Roles that write with the answer at hand; a user who repeats an answer confirms it."""
READ_AT_MOST = 4_000
"""Number of characters of a text that are read: a pasted book would take minutes."""
LEAST_WORDS = 2
"""Content words a sentence needs to be recognised; "Yes, Porto" may mean anything."""
ELLIPSIS = "…"
LED_TO = r"(?:[:：][ \t]+)?"
"""Colon before a quoted answer, cut out with it: otherwise it would introduce the next sentence."""
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
CONTRACTION = re.compile(r"(?:'(?:s|d|ll|ve|re|m)|n't)$")
# A person who is addressed may be named in only one of the texts.
ANYBODY = re.compile(r"\b(?:[Tt]he )?[Uu]ser(?:['’]s)?\b|用户")
FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself)\b|我")
SILENT = dict.fromkeys(map(ord, SOFT_CHARACTERS))
CHANGE_WORDS = read_words("change")
NOT_COMPARED = (
    STOP_WORDS | CHANGE_WORDS | details.DATE_WORDS | frozenset(details.NUMBER_WORDS) | {"may"}
)


@dataclass(frozen=True, slots=True)
class Printed:
    """How an answer printed a memory: the pattern `form` matches all of it.

    `needle` is a literal part of it, with single spaces.
    """

    memory_id: uuid.UUID
    needle: str
    form: str
    seqs: frozenset[int]


@dataclass(frozen=True, slots=True)
class Answers:
    """What recent answers served: each memory, its text and how it was printed.

    `shortened` match a message of which an answer shows only parts, with "…" for the rest: the
    first where it has a line for itself, the second wherever it stands. Their groups are `speaker`
    and `said`. Empty: none does.
    """

    served: Mapping[Served, uuid.UUID]
    printed: Sequence[Printed]
    shortened: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as it is compared; `words` are stems or pairs of characters, in order."""

    text: str
    words: tuple[str, ...]
    details: frozenset[str]
    """Numbers and dates, those of time anchors left out."""
    all_details: frozenset[str]
    roles: tuple[str, ...]


class Echoes:
    """Compares sentences with what had been served when their message was posted."""

    def __init__(self, served: Iterable[Served]) -> None:
        self._served = tuple(dict.fromkeys(served))
        self._seqs = frozenset[int]().union(*(item.seqs for item in self._served))

    def find_origin(self, sentence: str, *, line: Line) -> Served | None:
        """Return the served memory that states all of `sentence`, which is drawn from `line`."""
        if line.role not in ECHOING_ROLES or line.seq not in self._seqs:
            return None
        source = _pick_source(sentence, line.content[:READ_AT_MOST])
        return self._find_served(sentence, seq=line.seq, source=source)

    def find_origin_of_all(self, line: Line) -> Served | None:
        """Return the memory behind the first statement of `line`, if all were served before."""
        if line.role not in ECHOING_ROLES or len(line.content) > READ_AT_MOST:
            return None
        return first_of_all(
            [
                self._find_served(sentence, seq=line.seq, source=sentence)
                for sentence in split_sentences(line.content)
                if not sentence.rstrip().endswith(("?", "？")) and content_words(sentence)
            ]
        )

    def find_known(self, sentence: str) -> Served | None:
        """Return the memory that any answer served and that states `sentence`."""
        return self._find_served(sentence, seq=None, source="")

    def _find_served(self, sentence: str, *, seq: int | None, source: str) -> Served | None:
        """Return the memory that states the first part of `sentence`, if all parts were served.

        One served sentence must state a whole part, since the words of several could be combined
        into anything. With `seq` None all answers count.
        """
        parts = split_sentences(ANYBODY.sub("", sentence[:READ_AT_MOST]))
        statements = [statement for part in parts if (statement := read_statement(part)).words]
        origin = read_statement(source)
        return first_of_all([self._find_teller(statement, seq, origin) for statement in statements])

    def _find_teller(self, new: Statement, seq: int | None, source: Statement) -> Served | None:
        candidates = (self._by_word.get(word, []) for word in new.words)
        for served, old in min(candidates, key=len):
            if (seq is None or seq in served.seqs) and says_again(new, old, source=source):
                return served
        return None

    @cached_property
    def _by_word(self) -> dict[str, list[tuple[Served, Statement]]]:
        """Served sentences by each word in them; built when first needed."""
        by_word: dict[str, list[tuple[Served, Statement]]] = defaultdict(list)
        for served in self._served:
            for part in split_sentences(served.text[:READ_AT_MOST]):
                statement = read_statement(_name_speaker(part, served.speaker))
                for word in statement.words:
                    by_word[word].append((served, statement))
        return by_word


def first_of_all(origins: Sequence[Served | None]) -> Served | None:
    """Return the first of `origins` if there is one and none is missing."""
    return origins[0] if origins and all(origins) else None


def cut_quotes(line: Line, answers: Answers) -> tuple[str, list[uuid.UUID]]:
    """Return `line` without the memories it quotes as printed, and the ids of those."""
    rest = line.content
    flat = " ".join(rest.split())
    prints = [
        printed
        for printed in answers.printed
        if line.seq in printed.seqs and printed.needle in flat
    ]
    quoted: list[uuid.UUID] = []
    # Whole lines first, then the longest: a message that quotes an earlier answer was
    # served as well, and holds in itself what other memories say.
    for pattern in answers.shortened[:1]:
        rest, quoted = _cut_parts(rest, pattern, answers, seq=line.seq)
    for printed in sorted(prints, key=lambda printed: -len(printed.needle)):
        rest, count = re.subn(LED_TO + rf"(?:{printed.form})", "\n", rest, flags=re.MULTILINE)
        if count:
            quoted.append(printed.memory_id)
    for pattern in answers.shortened[1:]:
        rest, memory_ids = _cut_parts(rest, pattern, answers, seq=line.seq)
        quoted += memory_ids
    return (rest.strip() if quoted else rest), list(dict.fromkeys(quoted))


def _cut_parts(
    text: str, pattern: str, answers: Answers, *, seq: int
) -> tuple[str, list[uuid.UUID]]:
    """Cut out the shortened messages, each checked against what its speaker was quoted with."""
    quoted: list[uuid.UUID] = []
    if ELLIPSIS not in text:
        return text, quoted

    def cut(match: re.Match[str]) -> str:
        for served, memory_id in answers.served.items():
            same = served.speaker.casefold() == match["speaker"].casefold()
            if same and seq in served.seqs and _holds_parts(served.text, match["said"]):
                quoted.append(memory_id)
                return "\n"
        return match[0]

    return re.sub(pattern, cut, text, flags=re.MULTILINE), quoted


def _holds_parts(whole: str, shortened: str) -> bool:
    """Return whether all that `shortened` shows is in `whole`, in that order."""
    rest = " ".join(whole.split())
    parts = [" ".join(part.split()) for part in shortened.split(ELLIPSIS)]
    for part in filter(None, parts):
        _, match, rest = rest.partition(part)
        if not match:
            return False
    return any(parts)


def says_again(new: Statement, old: Statement, *, source: Statement) -> bool:
    """Return whether `old` states all that `new` states, in the same sense.

    A date in `new` that is not in `source`, its original words, was computed from the day of the
    message: "last week", said again a week later, is not a different week.
    """
    if len(new.words) < LEAST_WORDS or not set(new.words) <= set(old.words):
        return False
    lacking = new.details - old.all_details
    if lacking & source.details or (lacking and source.details - old.all_details):
        return False
    common = [name for name in new.roles if name in old.roles]
    in_order = common == [name for name in old.roles if name in common]
    if details.ORDERED.search(new.text):
        in_order = list(new.words) == [word for word in old.words if word in new.words]
    return (
        in_order
        and details.count_negations(new.text) == details.count_negations(old.text)
        and details.read_directions(new.text) <= details.read_directions(old.text)
    )


def read_statement(sentence: str) -> Statement:
    """Return one sentence in the form in which it is compared."""
    text = details.ANCHOR.sub("", sentence)
    return Statement(
        text=text,
        words=content_words(text),
        details=details.read_numbers(text) | details.read_dates(text),
        all_details=details.read_numbers(sentence) | details.read_dates(sentence),
        roles=details.read_roles(text),
    )


def content_words(text: str) -> tuple[str, ...]:
    """Return the stems that carry meaning, in order; character pairs for unspaced scripts.

    Numbers and dates are left out: they are compared by themselves.
    """
    stems: list[str] = []
    plain = details.ANCHOR.sub("", text).translate(SILENT).replace("’", "'")
    for word in WORD.findall(prepare(plain)):
        bare = CONTRACTION.sub("", word)
        if UNSPACED.fullmatch(bare):
            if len(bare) == 2:
                stems.append(bare)
        elif not {word, bare, bare.removesuffix("s")} & NOT_COMPARED and not bare.isdecimal():
            root = stem(bare)
            if root not in SOFT_WORDS:
                stems.append(root)
    return tuple(dict.fromkeys(stems))


def _name_speaker(sentence: str, speaker: str) -> str:
    """Return a sentence with its speaker's name in place of "I" and "me", or at its start."""
    if not speaker:
        return sentence
    replaced = FIRST_PERSON.sub(speaker, sentence)
    return replaced if speaker in replaced else f"{speaker}: {sentence}"


def _pick_source(sentence: str, said: str) -> str:
    """Return the sentences of a message that `sentence` may be drawn from: all if unclear."""
    words = set(content_words(sentence)).difference(details.read_roles(sentence))
    parts = [part for part in split_sentences(said) if words & set(content_words(part))]
    return " ".join(parts) or said
