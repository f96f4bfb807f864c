"""Finds the author's own sentences in a message, without pasted text, quotations and code.

Nearly all rules look at structure, in any language. Only two use words of `patterns.toml`: a text
to work on follows, and it is made up.
"""

import re
from dataclasses import dataclass

from memoryproject.text.sentences import split_sentences
from semantic.pasted import MAIL_HEADER
from semantic.patterns import read_pattern

READ_AT_MOST = 20_000
"""Characters of one message."""
SENTENCES_AT_MOST = 40
"""Sentences that are read, the first and last of a longer message: each needs a vector."""
CUT = "\ufffc"
"""Marks, on a line of its own, a block that was left out."""
PASTED = tuple(
    re.compile(pattern, re.DOTALL | re.MULTILINE | re.IGNORECASE)
    for pattern in (
        r"```.*?```",
        r"```[^\n]*",  # a fence that is not closed only hides its own line
        r"^[ \t]*>.*?$",
        r"^[ \t]*— .*?$",  # a line of a dialogue
        # "*waves a hand* I'm the king": a part is played.
        r"\A\s*\*(?-i:(?![A-Z]))[^*\n]{0,99}[^\W\d_] [^*\n]{1,99}\*(?=\s).*\Z",
        # A paragraph that is a quotation, longer than a title.
        r"^[ \t]*(?:\"[^\"]{60,}\"|“[^“”]{60,}”|„[^„“”]{60,}[“”]|«[^«»]{60,}»|「[^「」]{30,}」)"
        r"[ \t]*$",
        r"^[ \t]*#{1,6}[ \t].*?$",  # a heading of Markdown
        r"<(?P<tag>[a-z][\w-]{0,40})(?:\s[^<>]{0,200})?>.{0,1000}?</(?P=tag)\s{0,9}>",
        r"\[(?P<name>\w{1,40})[^\]\n]{0,200}\].{0,1000}?\[/(?P=name)\]",
        r"\[\s{0,9}(?:shared|shares|sent|posted)\b[^\]]{0,2000}\]",
        r"^[ \t]*\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*?$",  # a line of a log
        r"^[^\n]*[{};][ \t]*$|^[ \t]*[\w.]+[ \t]*=[ \t].*?$",  # a line of code
    )
)
RULER = re.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,}|#{3,})[ \t]*$", re.MULTILINE)
TASK = read_pattern("own_words.task")
INVENTED = read_pattern("own_words.invented")
LIST = re.compile(
    r"^[^\n]*[:：][ \t]*(?:\n[ \t]*(?:[-*•–]|\d{1,2}[.)])[ \t]+[^\n]+)+", re.MULTILINE
)
LIST_AT_MOST = 300
"""Length of a list, with its heading, that is joined into one sentence."""
GLUE = "\ue000"
"""Replaces white space that does not end a sentence."""
BELOW = re.compile(r"\n[ \t]*\n|(?<=[:：])[ \t]*\n")
"""An empty line, or the end of a line that ends in a colon: people paste text after it."""
OPENING_AT_MOST = 3
"""Sentences before a pasted text: mostly only what is asked about it."""
GAP = re.compile(r"[:：](?!\S)|[:：]\s*[\"“„«「]|：|\n\s*\n")
"""Separator between "proofread this letter" and the letter."""


@dataclass(frozen=True, slots=True)
class OwnSentence:
    """One sentence, to the letter except for white space; number `place`, from 0, of `count`.

    `is_beside_paste`: a block was cut from the message, so the rest is most likely the author's
    own. `is_below_opening`: it comes after the message's first sentences, where people paste.
    """

    text: str
    place: int
    count: int
    is_beside_paste: bool = False
    is_below_opening: bool = False


def read_own_sentences(content: str) -> list[OwnSentence]:
    """Return the sentences of a message that are its author's own, in order."""
    content = content[:READ_AT_MOST]
    own = cut_pasted(content)
    pieces = split_sentences(join_lists(own))
    texts = [" ".join(piece.replace(GLUE, " ").split()) for piece in pieces if CUT not in piece]
    texts = [text for text in texts if any(map(str.isalnum, text))]
    half = SENTENCES_AT_MOST // 2
    if len(texts) > SENTENCES_AT_MOST:
        texts = texts[:half] + texts[-half:]
    parts = BELOW.split(content.strip(), maxsplit=1)
    above = len(split_sentences(parts[0])) if len(parts) > 1 else 0
    return [
        OwnSentence(
            text,
            place,
            len(texts),
            is_beside_paste=CUT in own,
            is_below_opening=0 < above <= min(place, OPENING_AT_MOST),
        )
        for place, text in enumerate(texts)
    ]


def join_lists(text: str) -> str:
    """Return a text with each short list joined to its heading, which its items need."""
    return LIST.sub(_glue, text)


def _glue(match: re.Match[str]) -> str:
    is_short = len(match[0]) <= LIST_AT_MOST
    return re.sub(r"\s+", GLUE, match[0]) if is_short else match[0]


def cut_pasted(text: str) -> str:
    """Return a message with one mark in place of each block that the author did not write."""
    if invented := INVENTED.search(text):
        before = split_sentences(text[: invented.start()] + CUT)
        text = "\n".join([*before[:-1], CUT])
    for pattern in PASTED:
        text = pattern.sub(f"\n{CUT}\n", text)
    if header := MAIL_HEADER.search(text):
        text = text[: header.start()]
    for task in TASK.finditer(text):
        gap = GAP.search(text, task.end())
        if gap is None:
            continue
        between, rest = text[task.end() : gap.start()].strip(), text[gap.end() :]
        is_cut = CUT in between or rest.lstrip().startswith(CUT)
        if not is_cut and "\n" not in between:
            return f"{text[: gap.start()]}\n{CUT}\n{_skip_block(rest)}"
    return text


def _skip_block(rest: str) -> str:
    """Return the text after a pasted block, which ends at the last ruler, or else with the text."""
    rulers = list(RULER.finditer(rest))
    return rest[rulers[-1].end() :] if rulers else ""
