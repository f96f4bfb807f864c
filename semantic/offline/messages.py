"""Reads a user's message into sentences that are the user's own words.

Left out: code blocks, quoted lines, pasted mails and articles, what stands in quotation marks,
questions, hypotheticals, jokes, hearsay, small talk and imperatives.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from episodic.engines import Line
from memoryproject.text.sentences import Writing, detect_writing, split_sentences
from semantic.offline.lexicon import Lexicon, get_lexicon
from semantic.pasted import QUOTED, strip_pasted
from semantic.patterns import read_pattern, read_text

CHARACTERS_AT_MOST = 4_000
"""Read of one message. What people tell of themselves is short; a pasted book would hold a
worker for minutes, and its words are found all the same."""
SMILEY = read_pattern("messages.smiley")
FIRST_SMILEY = re.compile(r"^(?:[:;]-?[)D(P]|[\U0001F300-\U0001FAFF\u2600-\u27bf])+\s*")
OPENER = read_pattern("messages.opener")
CLAUSE_END = read_pattern("messages.clause_end")
CLAUSE_OPENING = read_pattern("messages.clause_opening")
QUESTION_START = read_pattern("messages.question_start")
FINITE = frozenset(read_text("messages.finite").split())
SUBJECTS = frozenset("i we he she they you who".split())
NAMED_START = read_pattern("messages.named_start")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message; `before` is what the user said before it in the message."""

    text: str
    raw: str
    """With the words at its beginning that `text` leaves out."""
    before: str
    writing: Writing
    speaker: str
    line: Line

    @property
    def lexicon(self) -> Lexicon:
        """The words of its language."""
        return get_lexicon(self.writing)


def read_sentences(
    line: Line, *, name: str = "", default: Writing = Writing.ENGLISH
) -> list[Sentence]:
    """Return the user's own sentences in order, without interjections at their beginning.

    Also those that state nothing: `states_something` tells. `name` is the user's, if known;
    `default` is how the user writes elsewhere, for a message that does not show it.
    """
    own = strip_pasted(line.content[:CHARACTERS_AT_MOST])
    whole = detect_writing(own, default=default)
    pieces = split_sentences(own)
    sentences: list[Sentence] = []
    for at, piece in enumerate(pieces):
        writing = detect_writing(piece, default=whole)
        if writing is Writing.OTHER or (writing is Writing.ENGLISH and len(piece.split()) < 4):
            writing = whole
        lexicon = get_lexicon(writing)
        after = next((later for later in pieces[at + 1 : at + 2] if len(later) < 30), "")
        if lexicon.has("joke", piece) or lexicon.has("joke", after):
            continue  # it says that it is no earnest, or the short one behind it does
        bare = FIRST_SMILEY.sub("", _strip_smileys(piece)).strip()
        text = _strip_smileys(_strip_openings(bare, lexicon))
        text = lexicon.pattern("trailing").sub("", text.rstrip(" ~～")) or text
        if text:
            text = text[0].upper() + text[1:]
            before = " ".join(pieces[:at])
            speaker = name or str(lexicon.get("names.user"))
            sentences.append(Sentence(text, piece, before, writing, speaker, line))
    return sentences


def _strip_smileys(text: str) -> str:
    """Return a text without the smileys at its end."""
    return SMILEY.sub(lambda match: "" if match["goes_on"] is None else match[0], text)


def _strip_openings(text: str, lexicon: Lexicon) -> str:
    """Cut "Yeah, so, by the way" off, which carries no content."""
    if lexicon.writing is Writing.CHINESE:
        return lexicon.pattern("opening").sub("", text)
    openings = lexicon.words("openings")
    text = re.sub(r"^(\w*?(\w))\2{2,}\b", r"\1", text)  # "soooo" is "so"
    phrases = lexicon.get("opening_phrases")
    phrase = re.compile(rf"^(?:{phrases})\b[\s,:!.…—–-]*", re.IGNORECASE)
    while True:
        rest = phrase.sub("", text)
        opener = OPENER.match(rest)
        if opener is not None and (opener[1] or opener[2]).lower() in openings:
            after = rest[opener.end() :]
            # Without a comma it must stand before a subject: "So I …", but "Well water …".
            if (
                opener[1] is not None
                or NAMED_START.match(after)
                or lexicon.writing is Writing.OTHER
            ):
                rest = after
        if rest == text or not rest:
            return text
        text = rest


def has_verb(text: str, lexicon: Lexicon) -> bool:
    """Whether an English text holds a finite verb, as far as the lexicon knows verbs."""
    words = list(iterate_words(text))
    bases, pasts = lexicon.words("forms.bases"), lexicon.words("forms.pasts")
    return any(
        word in FINITE
        or word in pasts
        or word in bases
        or (word.endswith("ed") and not word.endswith("eed"))
        or ("'" in word and word.partition("'")[2] in {"s", "m", "re", "ve", "ll", "d", "t"})
        or (word.endswith("s") and (word[:-1] in bases or word[:-2] in bases))
        or before in SUBJECTS
        for before, word in zip(["", *words], words, strict=False)
    )


def trim(sentence: Sentence) -> Sentence:
    """Return a sentence without the clauses around it that ask, suppose or command.

    "I'm vegetarian, so give me dinners without meat" states what stands before the comma,
    "Bring the dog, but Emil is afraid of it" what stands behind it.
    """
    clauses = CLAUSE_END.split(sentence.text)
    own = sentence.lexicon.pattern("first_subject")
    while len(clauses) > 1 and is_imperative(clauses[0].strip(), sentence.lexicon):
        if CLAUSE_OPENING.match(clauses[2]) is None and own.match(clauses[2]) is None:
            break
        clauses = [CLAUSE_OPENING.sub("", clauses[2]), *clauses[3:]]
    while len(clauses) > 1:
        last = clauses[-1].strip()
        bare = CLAUSE_OPENING.sub("", last)
        lexicon = sentence.lexicon
        is_statement = sentence.writing is Writing.CHINESE or own.match(clauses[0])
        asks = is_question(last, lexicon) and (is_statement or QUESTION_START.match(bare))
        supposes = lexicon.has("hypothetical", bare)
        if not asks and not is_imperative(bare, lexicon) and not supposes:
            break
        clauses = clauses[:-2]
    text = "".join(clauses).strip(" ,，;–-")
    return replace(sentence, text=text[0].upper() + text[1:]) if text else sentence


def states_something(sentence: Sentence) -> bool:
    """Whether a sentence states something in earnest, of whatever interest."""
    text, lexicon = sentence.text, sentence.lexicon
    if QUOTED in text or is_question(text, lexicon) or text.endswith((":", "：")):
        return False
    keys = ("hypothetical", "hearsay", "small_talk")
    if any(lexicon.has(key, text) for key in keys):
        return False
    return not is_imperative(text, lexicon)


def is_question(text: str, lexicon: Lexicon) -> bool:
    """Whether a sentence asks; a trailing smiley or bracket does not hide the mark."""
    return "?" in text[-3:] or "？" in text[-3:] or lexicon.has("question", text)


def is_imperative(text: str, lexicon: Lexicon) -> bool:
    """Whether a sentence asks the listener to do something."""
    if lexicon.writing is Writing.CHINESE:
        return lexicon.has("imperative", text)
    first, _, rest = text.partition(" ")
    word = first.lower().strip(",.!")
    if word not in lexicon.words("imperative"):
        return False
    return re.match(rf"(?:{lexicon.get('after_imperative')})\b|$", rest, re.IGNORECASE) is not None


def iterate_words(text: str) -> Iterator[str]:
    """Yield the words of a sentence in Latin letters, lower-cased."""
    return (match[0].lower() for match in re.finditer(r"[^\W\d_]+(?:['’][^\W\d_]+)*", text))
