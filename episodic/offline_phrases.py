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
_ENDS_NO_PHRASE = re.compile(r"^[a-z]{2,}(?:[^e]ed|able|ible|ful|ous)$")
_ADVERB = re.compile(
    r"^(?!family|reply|supply|assembly|butterfly|jelly|belly|monopoly|bully|rally)[a-z]{3,}ly$"
)
_NO_TOPIC = frozenset(
    """
    able absolutely across actually afraid against agree ah allowed almost along already although
    amazed amazing among another anymore anyways apart apparently appreciate are around aside ask
    asked aw awesome awful awhile back bad bear beautiful became become becomes believe belong
    belongs best better between beyond big billion bit borrow both bring brings brought buddy built
    busy buy call called came can can't cannot cant care change cheaper check cherish clear clearer
    come comes coming congrats congratulations connect couldn't couple course crazy create crucial
    cut day days decided definitely despite develop develops didn't different difficult doesn't
    don't dont during earlier early easy eat eaten eating eight either else enjoy enjoyed enjoying
    enough enter especially everyone everything exact exactly except excited exciting express
    expressing extra facing familiar fantastic feel feeling feels felt few finally find fine
    finished first five following forward found four friend front full fun gave gets getting give
    given giving glad goes gone gonna gotta grow grows guess haha hang hanging happen happened
    happens happy hard hasn't haven't having he's hear heard help helped helping helps here's
    herself himself hmm hold holding hope huge hundred i'd i'll i'm i've idea im important include
    includes including inside inspired inspiring instead interested interesting isn't it's ive join
    just keep keeping kept kind knew known last lately later laying learn learned least led left
    lend less let's life like likely little live lol long longer look looked looking looks lost
    lots love loved lovely loves lying main makes making maybe mean means middle million mind
    minute moment monitored month months moved moving name near nearly needs neither next nine none
    nothing often ok okay old ones onto open others ourselves outside overlooking paid pass passion
    passionate past pay people per perfect perhaps person photo photos pic pics picture pictures
    place plan planning plans please posing possible possibly probably proud pursue put quick
    quickly rather read ready real recent recently relax relaxing remember remind reminds rest
    saying says seeing seem seems seen sees sell send sense sent set seven several shall share
    shared she's short show since sir sitting six small sold somehow sometimes sorry sort sounds
    special spend spent standing start started starting stay staying stuff suddenly super support
    supportive sure sweet taking talented talk talked talking tell ten that's thats themselves
    there's therefore they're they've thinking tho though thought thousand three till time times
    today together told tomorrow tonight took top total tough toward towards tried true trying turn
    turned twelve twice two under understand unless until upon used useful using usually via vid
    vids wait wanted wanting wants wasn't watch way we'd we're we've wear wearing week weekend
    weeks went what's whats whether while who's whole wish within without won't wonder wonderful
    wondering work worked working works world worth wow wrong year years yesterday yet you'd you're
    you've yourself yup zero
    """.split()
)


SMALL_TALK = frozenset(stem for word in _NO_TOPIC for stem in cues.content_words(word))
"""Stems that any talk may share with any other."""


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
        word = _without_owner(token).lower()
        if _is_topic(word) and not _is_name(word, names) and not _ADVERB.search(token):
            run.append(token)
            continue
        while len(run) > 1 and _ENDS_NO_PHRASE.search(run[-1]):
            run.pop()
        if run:
            yield [*run[-MOST_WORDS:-1], _without_owner(run[-1])]
        run = []


def _without_owner(token: str) -> str:
    return token.removesuffix("'s").removesuffix("’s")


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
