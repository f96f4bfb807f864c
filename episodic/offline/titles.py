"""Titles of 5 to 15 words: the speakers, and the most typical noun phrases or sentence."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from episodic.engines import Line, Vectors
from episodic.offline.lexicon import Lexicon
from episodic.offline.sentences import list_sentences, measure_closeness
from episodic.text_sizes import clip_words, count_words

FEWEST_TITLE_WORDS = 5
MOST_TITLE_WORDS = 15
MOST_PHRASES = 3
MOST_WORDS_OF_A_PHRASE = 3
WORTH_OF_A_NAME = 1.25
WORTH_AT_LEAST = 0.85
"""Weight below which a phrase is no topic: a word said once needs a line close to the mean."""
_MOST_SPEAKERS = 3
_MOST_SPEAKER_WORDS = 6
_TOKEN = re.compile(r"[^\W\d_]+(?:['’&-][^\W\d_]+)*|\d\S*|[^\w\s]")
_OWNER = re.compile(r"['’]s?$")


def compose_title(lines: Sequence[Line], vectors: Vectors, lexicon: Lexicon) -> str:
    """Return a title for these lines; never empty.

    Speakers with names come first. Two or three noun phrases make a title if it has five words;
    else the first informative sentence, after the phrases if nobody has a name.
    """
    speakers = clip_words(name_speakers(lines, lexicon), _MOST_SPEAKER_WORDS)
    colon = lexicon.title["colon"]
    prefix = f"{speakers}{colon}" if any(line.name for line in lines) else ""
    phrases = find_phrases(lines, vectors, lexicon)
    topic = prefix + join_words(phrases, lexicon) if phrases else ""
    if count_words(topic) < FEWEST_TITLE_WORDS or len(phrases) < 2:
        topic = f"{topic}{colon}" if phrases and not prefix else prefix
        topic += find_sentence(lines, lexicon)
    if count_words(topic) < FEWEST_TITLE_WORDS:
        topic = f"{lexicon.title['short'].format(speakers)}{colon}{topic.removeprefix(prefix)}"
    title = clip_words(topic, MOST_TITLE_WORDS).rstrip(" .,;:：。！，、")
    return title[:1].upper() + title[1:]


def name_speakers(lines: Sequence[Line], lexicon: Lexicon) -> str:
    """Return who spoke, in order, at most three entries, the last then "others"."""
    roles = lexicon.title
    names = list(dict.fromkeys(line.name or roles.get(line.role, line.role) for line in lines))
    if len(names) > _MOST_SPEAKERS:
        names = [*names[: _MOST_SPEAKERS - 1], lexicon.title["others"]]
    return join_words(names, lexicon)


def join_words(parts: Sequence[str], lexicon: Lexicon) -> str:
    """Return "a", "a and b", "a, b and c", as the language does."""
    *most, last = parts
    return f"{lexicon.title['comma'].join(most)}{lexicon.title['and']}{last}" if most else last


def find_sentence(lines: Sequence[Line], lexicon: Lexicon) -> str:
    """Return the first informative sentence, or else the first words of the lines."""
    sentences = list_sentences(lines, lexicon)
    words = " ".join(" ".join(line.content for line in lines).split())
    first = sentences[0].text if sentences else words
    return next((row.text for row in sentences if row.telling), first)


def find_phrases(lines: Sequence[Line], vectors: Vectors, lexicon: Lexicon) -> list[str]:
    """Return the noun phrases with the highest weight, best first, without repeated words.

    A word's weight depends on the number of its lines, and on how typical they are. Speakers' own
    names do not count.
    """
    people = [part.lower() for line in lines for part in line.name.split()]
    weight: dict[str, float] = defaultdict(float)
    forms: dict[frozenset[str], Counter[str]] = defaultdict(Counter)
    for line, closeness in zip(lines, measure_closeness(vectors), strict=True):
        for stem in lexicon.content_words(line.content):
            weight[stem] += 0.5 + 0.5 * closeness
        for phrase in cut_phrases(line.content, lexicon):
            names = [word for word in phrase.lower().split() if len(word) > 2]
            if not any(name.startswith(word) for name in people for word in names):
                forms[lexicon.content_words(phrase)][phrase] += 1

    def worth(stems: frozenset[str]) -> float:
        named = any(word[0].isupper() for form in forms[stems] for word in form.split()[-1:])
        total = sum(weight[stem] for stem in stems) / max(len(stems), 1) ** 0.5
        return float(total * (WORTH_OF_A_NAME if named else 1.0))

    chosen: list[str] = []
    used: set[str] = set()
    for stems in sorted(forms, key=lambda stems: (-worth(stems), sorted(stems))):
        if len(chosen) < MOST_PHRASES and worth(stems) > WORTH_AT_LEAST and not stems & used:
            chosen.append(max(forms[stems], key=lambda form: (forms[stems][form], form)))
            used |= stems
    return chosen


def cut_phrases(content: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield runs of content words that are names or follow an article or similar word.

    Three words at most. A run also ends where capitals begin or end: "my wife | Ines | runs".
    """
    run: list[str] = []
    nominal = False
    before = "."
    for token in [*_TOKEN.findall(content), "."]:
        says = token[0].isalpha() and len(token) > 2 and not lexicon.is_stop(token)
        turns = run and run[-1][0].isupper() != token[0].isupper() and not _OWNER.search(run[-1])
        if turns or not says:
            while len(run) > 1 and lexicon.has("no_noun", run[-1]):
                run.pop()
            if nominal and run and not lexicon.has("no_noun", run[-1]):
                yield _OWNER.sub("", " ".join(run[-MOST_WORDS_OF_A_PHRASE:]))
            run = []
        if says:
            if not run:
                is_name = token[0].isupper() and before[0].isalnum()
                nominal = is_name or before.lower() in lexicon.introducers
            run.append(token)
        before = token
