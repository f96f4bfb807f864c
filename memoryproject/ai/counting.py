"""Counts tokens as the largest of several tokenizers and a rule by characters.

No network: multilingual-e5's tokenizer comes with the embedded model, and is used if that model is;
the vocabularies of OpenAI's models come with toktok.
"""

import math
import unicodedata
from collections import Counter
from functools import lru_cache

from memoryproject.ai.local_model import is_in_use, load_local_model
from memoryproject.ai.vocabularies import ENCODINGS, count_exactly
from memoryproject.text import tokens
from memoryproject.text.tokens import CHARS4

AROUND = 4
"""Tokens that the model adds to a text: its start and end, and the word for a passage."""
REMEMBERED_WORDS = 65_536
REMEMBERED_LETTERS = 32
"""Longest word whose count is cached: longer ones rarely come back."""
READ_LETTERS = 4_000
"""Letters of a word that are read: a base64 file is one word, and would take seconds."""


def _count_pieces(word: str) -> int:
    """Return the pieces of a word; a longer one than READ_LETTERS is extrapolated."""
    count = int(load_local_model().token_count(word[:READ_LETTERS])) - AROUND
    return math.ceil(count * max(1, len(word) / READ_LETTERS))


_remember_pieces = lru_cache(REMEMBERED_WORDS)(_count_pieces)


def count_e5_quarters(text: str) -> int:
    """Return the size by multilingual-e5's tokenizer, which has 250,000 pieces.

    No piece spans white space, so the words add up to the text; white space itself counts nothing.
    """
    count = 0
    for word, times in Counter(text.split()).items():
        is_short = len(word) <= REMEMBERED_LETTERS
        count += times * (_remember_pieces(word) if is_short else _count_pieces(word))
    return 4 * count


def count_max_quarters(text: str) -> int:
    """Return the largest of all counts, never less than cl100k or o200k.

    Where another model embeds, e5's tokenizer is left out: it need not be installed.
    """
    by_e5 = count_e5_quarters(text) if is_in_use() else 0
    return max(CHARS4.quarters(text), by_e5, *(_count_bpe(text, name) for name in ENCODINGS))


def count_prompt_tokens(text: str) -> int:
    """Return a high estimate of the tokens that a text takes in a language model's context.

    The larger of the tokenizers' count and the character rule's: the first is good at code, numbers
    and emoji, the second at scripts that smaller vocabularies spell out.
    """
    if is_in_use():
        count = int(load_local_model().token_count(text))
    else:
        count = max(count_exactly(text, name) for name in ENCODINGS)
    return max(count, CHARS4.count(text))


def _count_bpe(text: str, encoding: str) -> int:
    """Return the size in quarters by an OpenAI vocabulary, plus what a joint may add."""
    count = count_exactly(text, encoding) + _count_unassigned_bytes(text)
    if text and not text[0].isspace():
        count += _measure_joint(text.split(maxsplit=1)[0], encoding, is_first=True)
    if text and not text[-1].isspace():
        count += _measure_joint(text.rsplit(maxsplit=1)[-1], encoding, is_first=False)
    return 4 * count


@lru_cache(REMEMBERED_WORDS)
def _measure_joint(word: str, encoding: str, *, is_first: bool) -> int:
    """Return how many tokens, besides its own, white space may add next to a word.

    A rare word may be split differently after a space than at the start of a text; a budget that
    adds up parts must allow for that.
    """
    joined = [space + word for space in " \t"] if is_first else [word + "\n", word + "\n\n"]
    alone = count_exactly(word, encoding) + 1
    return max(0, *(count_exactly(text, encoding) - alone for text in joined))


def _count_unassigned_bytes(text: str) -> int:
    """Return the bytes of words with a character unknown to this Python's Unicode.

    Tokenizers with another Unicode version split such words differently, but into no more pieces
    than bytes.
    """
    if text.isascii() or text.rstrip().isprintable():
        return 0
    unassigned = {letter for letter in set(text) if unicodedata.category(letter) == "Cn"}
    if not unassigned:
        return 0
    return sum(len(word.encode()) for word in text.split() if not unassigned.isdisjoint(word))


COUNTERS = {
    counter.name: counter for counter in (CHARS4, tokens.Counter("max", count_max_quarters))
}
"""Possible values of MEMORY_TOKEN_COUNTER."""
