"""Stop words, stems and content words of English and Chinese text."""

from __future__ import annotations

import re
from functools import lru_cache
from threading import Lock

import snowballstemmer

STOP_WORDS = frozenset(
    "a an the and or but if then so to of in on at for with from by about as into over after "
    "before i i'm i've i'd i'll my me mine myself we we're we've we'll our us ours you you're "
    "you've you'll you'd your yours yourself he he's she she's it it's its they they're them their "
    "his her him this that that's these those there there's here what what's which who how when "
    "where why is are was were be been being am do does did don't doesn't didn't have has had "
    "haven't can can't could will won't would should not no yes just really very too also only "
    "even still much many lot lots more most some any all every such like get got getting go going "
    "gonna make makes made thing things something anything everything stuff know think feel feels "
    "good great nice cool awesome amazing wonderful fantastic incredible super pretty quite sure "
    "definitely always never up out down off than because while one way bit kind sort im thats "
    "ive dont yeah wow oh well now let's let see look take new back truly totally absolutely "
    "actually".split()
)
WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
# They glue Chinese phrases together and would make pairs of their own.
HAN_GLUE = re.compile(r"[的了吗呢吧啊着过在很也都是就我你他她它们]")

_stemmer = snowballstemmer.stemmer("english")
_stemmer_lock = Lock()  # it keeps the word that it works on


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of an English word in lower case."""
    with _stemmer_lock:
        return str(_stemmer.stemWord(word))


def content_stems(text: str) -> list[str]:
    """Return the stems of the words that carry meaning, in order, each once.

    A run of Chinese gives its pairs of characters, a single character itself.
    """
    stems: dict[str, None] = {}
    for word in WORD.findall(text.replace("’", "'").lower()):
        if HAN_RUN.search(word):
            for run in HAN_RUN.findall(HAN_GLUE.sub(" ", word)):
                pairs = [run[at : at + 2] for at in range(len(run) - 1)] or [run]
                stems |= dict.fromkeys(pairs)
            word = HAN_RUN.sub("", word)
        bare = word.removesuffix("'s")
        if bare and bare not in STOP_WORDS:
            stems[stem(bare)] = None
    return list(stems)
