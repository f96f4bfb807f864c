"""Splits text into sentences, and detects English by its words."""

import re

from memoryproject.text.words import read_words

HAN = re.compile(r"[\u3400-\u9fff]")
LATIN_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
ENGLISH_WORDS, FOREIGN_WORDS = read_words("english"), read_words("foreign")
TITLES = r"Mr|Mrs|Ms|Dr|St|Prof|vs|e\.g|i\.e"
"""Abbreviations, as alternatives of a pattern, whose period ends no sentence."""
ABBREVIATION = re.compile(
    rf"(?:\b(?:{TITLES}|etc|jr|sr|inc|ltd|approx|a\.m|p\.m|u\.s|"
    r"bzw|ca|usw|z\.b|d\.h|nr|tel|\w*str|sra?|dra?|mme)|\b[A-Z])\.$",
    re.IGNORECASE,
)
# "am 9. Mai", "im 3. Stock": an ordinal, unless an English speaker is 41.
ORDINAL = re.compile(
    r"(?:^|(?<!\bI )\b(?:am|der|die|das|dem|den|des|im|vom|zum|zur|bis|ab|seit|beim|und|mein|"
    r"meine[nmrs]?) )\d{1,3}\.$",
    re.IGNORECASE,
)
ORDINAL_BEFORE = re.compile(
    r"^(?:[^\W\d_A-Z]|(?:Jan|Feb|März|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)\w*\b)"
)
SENTENCE_END = re.compile(
    r"(?<=[.!?…])[\"”’)]*\s+|\n+|(?<=[。！？!?])[”」』]?(?=[^\s。！？!?”」』\w])|"
    r"(?<=[。！？])(?=\w)|(?<=[!?])(?=[\u3400-\u9fff])"
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, stripped; addresses and numbers stay whole."""
    sentences: list[str] = []
    start = 0
    for end in SENTENCE_END.finditer(text):
        piece = text[start : end.start()].strip(" \t*•")
        if "\n" not in end[0] and _goes_on(piece, text[end.end() :]):
            continue
        start = end.end()
        sentences.append(piece)
    sentences.append(text[start:].strip(" \t*•\n"))
    return [sentence for sentence in sentences if sentence]


def _goes_on(piece: str, rest: str) -> bool:
    """Return whether the period at the end of `piece` belongs to an abbreviation or an ordinal."""
    if ABBREVIATION.search(piece):
        return True
    is_number = re.search(r"(?:^|\s)\d{1,3}\.$", piece) is not None
    return is_number and (
        ORDINAL.search(piece) is not None or ORDINAL_BEFORE.match(rest) is not None
    )


def is_english(text: str) -> bool:
    """Return whether Latin letters are English, or have no word of another known language."""
    words = [word.lower().replace("’", "'") for word in LATIN_WORD.findall(text)]
    english = sum(word in ENGLISH_WORDS or "'" in word for word in words)
    foreign = sum(word in FOREIGN_WORDS for word in words)
    is_ascii = sum(word.isascii() for word in words)
    return bool(words) and foreign <= english and 2 * is_ascii >= len(words)


def shorten(text: str, at_most: int) -> str:
    """Return a text on one line, cut between words if it has any."""
    flat = " ".join(text.split())
    if len(flat) <= at_most:
        return flat
    head, space, _ = flat[:at_most].rpartition(" ")
    return f"{head if space else flat[: at_most - 1]}…"
