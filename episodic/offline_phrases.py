"""The phrases that a stretch of talk is about: runs of content words, by weight.

After RAKE (Rose et al. 2010): stop words and punctuation cut a text into phrases. We
differ in the weights: a word counts once a line, by what the line stands for.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from episodic import discourse_cues as cues
from episodic.engines import Line
from episodic.offline_evidence import Floats

MOST_WORDS = 3
_TOKEN = re.compile(r"[^\W_]+(?:['’&-][^\W_]+)*|[^\w\s]")
_VERB_OR_ADJECTIVE = re.compile(
    r"(?:ing|ed|ful|ous|ive|ate|able|ible|ly|ish|less|ent|ant|ify|ise|ize)$", re.IGNORECASE
)
_NO_TOPIC = frozenset(
    """
    able absolutely actually afraid agree ah almost already amazed amazing anymore appreciate
    around ask asked aw awesome awful awhile back bad beautiful believe best better big bit both
    bring brings brought buddy busy buy called came can't cant care change check cherish clear
    come comes coming congrats congratulations couldn't course crazy create crucial day days
    decided definitely didn't different difficult doesn't don't dont earlier early easy enjoy
    enjoyed enjoying enough especially everyone everything exactly excited exciting express
    expressing extra facing fantastic feel feeling feels felt few finally find fine first
    forward found friend full fun gave gets getting give given giving glad goes gone haha happen
    happened happy hard hasn't haven't having he's hear heard help helped helping helps here's
    herself himself hmm hold hope huge i'd i'll i'm i've idea im important inspired inspiring
    interested interesting isn't it's ive just keep keeping kind knew known last lately later
    learn learned least left less let's life like little live lol long longer look looked
    looking looks lost love loved lovely loves main makes making maybe mean means mind minute
    moment month months name nearly needs next nothing often ok okay old ones open others
    ourselves pass passion passionate past people perfect perhaps person place plan planning
    plans please possible probably proud put quick quickly read ready real recently relax
    relaxing remember remind reminds rest saying says seeing seem seems seen sees sense set
    several share shared she's short show small sorry sort sounds special spend spent start
    started starting stay stuff super support supportive sure sweet taking talented talk talked
    talking tell that's thats themselves there's they're they've thinking thought time times
    today together told tomorrow tonight took top tough tried true trying turn turned understand
    used useful using usually wait wanted wanting wants wasn't watch way we'd we're we've week
    weekend weeks what's whats who's wish won't wonderful work worked working works world worth
    wrong year years yesterday yet you'd you're you've yourself yup
    """.split()
)


def best_phrases(
    lines: Sequence[Line], *, weights: Floats, window: Sequence[Line], at_most: int
) -> list[str]:
    """Return the phrases that weigh most, best first, none repeating another's words.

    `weights` has one number a line. Words that the whole `window` is full of weigh
    less; speakers' own names are no topic.
    """
    names = {part.lower() for line in window for part in line.name.split()}
    found_in = Counter(stem for line in window for stem in cues.content_words(line.content))
    word_weight: dict[str, float] = defaultdict(float)
    written: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for line, weight in zip(lines, weights, strict=True):
        seen: set[str] = set()
        for phrase in cut_phrases(line.content, names):
            stems = tuple(_stem(word) for word in phrase)
            written[stems][" ".join(phrase)] += 1
            seen.update(stems)
        for stem in seen:
            word_weight[stem] += float(weight)
    for stem in word_weight:
        word_weight[stem] *= math.log(1 + len(window) / max(found_in[stem], 1))
    ranked = sorted(written, key=lambda stems: (-_worth(stems, word_weight, written[stems]), stems))
    chosen: list[str] = []
    used: set[str] = set()
    for stems in ranked:
        if len(chosen) < at_most and not used & set(stems):
            chosen.append(max(written[stems], key=lambda form: (written[stems][form], form)))
            used.update(stems)
    return chosen


def cut_phrases(content: str, names: set[str]) -> Iterator[list[str]]:
    """Yield the runs of content words of a line, at most three words each."""
    run: list[str] = []
    for token in [*_TOKEN.findall(content), "."]:
        word = token.lower().removesuffix("'s").removesuffix("’s")
        if _is_topic(word) and not _is_name(word, names):
            run.append(token)
            continue
        if run:
            yield run[-MOST_WORDS:]
        run = []


def _is_name(word: str, names: set[str]) -> bool:
    """Is the word a speaker's name, or short for one ("Mel")?"""
    return word in names or (len(word) > 2 and any(name.startswith(word) for name in names))


def _is_topic(word: str) -> bool:
    return (
        len(word) > 2
        and not word.isdigit()
        and word not in _NO_TOPIC
        and word not in cues.STOP_WORDS
        and word[0].isalnum()
        and not word.endswith(("'ll", "'ve", "'re", "n't", "’ll", "’ve", "’re", "n’t"))
    )


def _stem(word: str) -> str:
    return min(cues.content_words(word), default=word.lower())


def _worth(stems: tuple[str, ...], weight: dict[str, float], written: Counter[str]) -> float:
    """Words that come back weigh; a phrase of two beats a word; names beat common words."""
    total: float = sum(weight[stem] for stem in stems) / len(stems) ** 0.5
    often: float = sum(written.values()) ** 0.25
    if len(stems) == 1:
        return total * often * (0.5 if _is_weak(written) else 1.0)
    is_name = any(all(word[0].isupper() for word in form.split()) for form in written)
    return total * often * (1.25 if is_name else 1.0)


def _is_weak(written: Counter[str]) -> bool:
    """Does a lone word look like a verb or an adjective?"""
    return any(_VERB_OR_ADJECTIVE.search(form) for form in written)
