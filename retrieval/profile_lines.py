"""Renders the lines of a profile by section, and fits them into a budget."""

import math
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from string import punctuation

from memoryproject.text.cleaning import clean_line
from memoryproject.text.parts import Excerpt, Kind, Part, Quote, join, quote_excerpt
from memoryproject.text.words import content_stems
from retrieval.budget import Budget, count_part
from retrieval.excerpts import add_dates
from retrieval.hits import EpisodeHit, FactHit
from retrieval.markdown import quote_title
from semantic.engines import Category
from semantic.models import Fact
from semantic.offline.quotations import parse_quote

DANGERS, GUIDELINES, IDENTITY = "dangers", "guidelines", "identity"
PREFERENCES, PRESENT, EPISODES = "preferences", "present", "episodes"
HEADINGS = {
    DANGERS: "## Dangers\n",
    GUIDELINES: "## How to treat them\n",
    IDENTITY: "## Who this is\n",
    PREFERENCES: "## Preferences\n",
    PRESENT: "## Present matters and plans\n",
    EPISODES: "## Last episodes\n",
}
"""Headings of the sections, in their order."""
SECTION_OF = {
    Category.GUIDELINE: GUIDELINES,
    Category.IDENTITY: IDENTITY,
    Category.RELATIONSHIP: IDENTITY,
    Category.PERSONALITY: IDENTITY,
    Category.PREFERENCE: PREFERENCES,
    Category.INTEREST: PREFERENCES,
    Category.GOAL: PRESENT,
    Category.EXPERIENCE: PRESENT,
}
ORDER = {section: place for place, section in enumerate(HEADINGS)}
FIRST = (DANGERS, GUIDELINES)
"""Sections whose lines all come before the second line of any other section."""
NAMES_AT_MOST, NUMBERS_AT_MOST, WORDS_AT_MOST = 3, 2, 10
"""Names (its speaker among them), numbers and other words of a fact that count for its value."""
LENGTH_WEIGHT = 0.3
"""Exponent of a line's tokens, by which its value is divided: short lines first, if all else is
equal. docs/decisions/019-retrieval.md has the figures of these weights."""
TELLING_AT_LEAST = 3
"""Names and other words of a fact that a profile shows, dangers and guidelines aside: "love it."
fits into what is left of any budget and tells nobody anything."""
SHOWN_SHARE = 0.3
"""Share of a fact's words in better ones, above which it comes after those that say news."""
NUMBER = re.compile(r"\d+")
MARKUP = {*punctuation} - {'"'}
"""Characters that markdown may interpret at the beginning of a line."""
DOUBTFUL = "[maybe replaced] "
"""Prefix of a fact that may be over according to an open suggestion.

docs/decisions/019-retrieval.md says why the fact stays.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of a profile: a fact or an episode, and its section."""

    section: str
    hit: FactHit | EpisodeHit
    parts: list[Part]
    month: str = ""
    """The heading above it, if lines are grouped by month."""
    is_doubtful: bool = False
    """Whether an open suggestion says that it is over."""
    words: Set[str] = frozenset()
    """The stems of a fact's words."""

    @property
    def names(self) -> int:
        """Return how many names and numbers a fact has among its keywords; 0: an episode."""
        keywords = () if isinstance(self.hit, EpisodeHit) else self.hit.keywords
        return sum(word[:1].isupper() or word[:1].isdigit() for word in keywords)

    @property
    def is_telling(self) -> bool:
        """Return whether it has enough words to be worth a line of its own."""
        is_always = self.section in (*FIRST, EPISODES)
        return is_always or len(self.words) + self.names >= TELLING_AT_LEAST

    @property
    def value(self) -> float:
        """Return how much it says for its length: names, numbers, words, and its episodes."""
        if isinstance(self.hit, EpisodeHit):
            return 0
        numbers = len(NUMBER.findall(self.hit.fact))
        told = min(self.names, NAMES_AT_MOST) + min(numbers, NUMBERS_AT_MOST) / 2
        told += min(len(self.words), WORDS_AT_MOST) / 20 + self.hit.sources - 1
        certainty = 0.5 if self.is_doubtful else 1
        return certainty * told / math.pow(count_part(join(self.parts)), LENGTH_WEIGHT)


def find_section(fact: FactHit | Fact) -> str:
    """Return the section of a profile in which a fact stands."""
    category = Category(fact.category)
    is_danger = fact.is_pinned and category is not Category.GUIDELINE
    return DANGERS if is_danger else SECTION_OF[category]


def render_facts(facts: Sequence[FactHit], doubtful: Set[str], links: str) -> Iterator[Line]:
    """Yield the lines of facts. If one speaker said them all, the name is left out."""
    quotations = [parse_quote(hit.fact) for hit in facts]
    speakers = {quotation and quotation[0] for quotation in quotations}
    for hit in facts:
        section = find_section(hit)
        said = clean_line(hit.fact, links)
        words = " ".join(said.split())
        start = words.find('"') if len(speakers) == 1 and None not in speakers else 0
        excerpt = Excerpt(words[start:], ((words[start:], start),))
        dated = add_dates(excerpt, words, at=hit.true_since)
        quotes = quote_excerpt(Quote(Kind.FACT, hit.id, said), dated)
        is_doubtful = hit.id in doubtful
        # The line begins with a quotation, which must not define a link or be a heading.
        escape = "\\" * (words[start : start + 1] in MARKUP)
        parts = ["- ", DOUBTFUL * is_doubtful, escape, *quotes, "\n"]
        month = f"### {hit.true_since:%Y-%m}\n" if section == PRESENT else ""
        yield Line(section, hit, parts, month, is_doubtful, {*content_stems(words[start:])})


def render_episode(hit: EpisodeHit, links: str) -> Line:
    return Line(EPISODES, hit, [f"- {hit.end_at:%Y-%m-%d} ", quote_title(hit, links), "\n"])


def fit_lines(lines: Sequence[Line], max_tokens: int) -> list[Line]:
    """Return the lines that fit into a budget, in the order of the text, with their ranks.

    First come all lines of `FIRST` and the best line of each other section, then the most
    informative ones, newer ones before equals, episodes last.
    """
    ranked = sorted((line for line in lines if line.is_telling), key=lambda line: -line.value)
    best = {line.section: line for line in reversed(ranked) if line.section != EPISODES}
    first = [line for line in ranked if line.section in FIRST]
    first += sorted(best.values(), key=lambda line: ORDER[line.section])
    budget, headed, kept = Budget(4 * max_tokens), {""}, set()
    for line in dict.fromkeys([*first, *_put_news_first(ranked)]):
        headings = {"\n" + HEADINGS[line.section], line.month} - headed
        if budget.take(count_part("".join([*headings, join(line.parts)]))):
            headed |= headings
            kept.add(line)
    shown = sorted((line for line in lines if line in kept), key=lambda line: ORDER[line.section])
    for rank, line in enumerate(shown, start=1):
        line.hit.found = replace(line.hit.found, rank=rank)
    return shown


def _put_news_first(ranked: Sequence[Line]) -> list[Line]:
    """Return lines, best first, but those that mostly repeat words of better ones at the end."""
    news, repetitions, told = list[Line](), list[Line](), set[str]()
    for line in ranked:
        is_repetition = len(line.words & told) > SHOWN_SHARE * len(line.words)
        (repetitions if is_repetition else news).append(line)
        told |= line.words
    return [*news, *repetitions]


def write_lines(lines: Sequence[Line]) -> list[Part]:
    """Return the text: each section below its heading, with an empty line between two."""
    parts: list[Part] = []
    section = month = ""
    for line in lines:
        if line.section != section:
            parts.append("\n" * bool(parts) + HEADINGS[line.section])
        if line.month != month:
            parts.append(line.month)
        section, month = line.section, line.month
        parts += line.parts
    return parts
