"""Stop words, stems and content words of English and Chinese text."""

import re
from functools import lru_cache
from threading import Lock

import snowballstemmer

from memoryproject.process.tables import read_table

_LISTS = read_table(__file__)


def read_words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


STOP_WORDS = read_words("stop")
WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
# Words that glue Chinese phrases and would make pairs of their own.
HAN_GLUE = re.compile(r"[的了吗呢吧啊着过在很也都是就我你他她它们]")

_stemmer = snowballstemmer.stemmer("english")
_stemmer_lock = Lock()  # it keeps the word that it works on


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    with _stemmer_lock:
        return str(_stemmer.stemWord(word))


def content_stems(text: str) -> list[str]:
    """Return the stems of the words that carry meaning, in order, each once.

    A run of Chinese gives its pairs of characters; a single character gives itself.
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
