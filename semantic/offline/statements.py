"""Turns a user's message into statements: sentences that are fit to be facts.

A plain first-person sentence is put into the third person. Any other that tells something is
kept as a quotation, `Sam: "…"`. Both name the speaker, and have their dates worked out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memoryproject.text.dates import anchor_times
from memoryproject.text.sentences import HAN, Writing, split_sentences
from memoryproject.text.words import STOP_WORDS, content_stems
from semantic.offline import messages
from semantic.offline.lexicon import Lexicon
from semantic.offline.quotations import quote
from semantic.offline.readings import Reading, claims_something, read_fact
from semantic.offline.third_person import rewrite
from semantic.offline.values import Kind, find_values
from semantic.pasted import QUOTED
from semantic.patterns import read_pattern

LEAST_TOLD = 2.5
"""See `informativeness`. Below it a sentence is of no use in a month."""
LEAST_STEMS_OF_A_FRAGMENT = 3
LEAST_CHINESE = 4
LEAST_CHINESE_OF_OTHERS = 6
"""Characters that carry meaning, of a sentence with and without "I"."""
WORDS_AT_MOST = 60
CHARACTERS_AT_MOST = 300
"""What is longer than a sentence is not one."""
NAME = re.compile(r"\b[A-ZÀ-Þ][\w'’-]*")
NAMED = re.compile(r"^[A-ZÀ-Þ][a-zà-ÿ]+(?:'s)? (?=[a-zà-ÿ])")
LEADING_PRONOUN = read_pattern("statements.leading_pronoun")
HAN_PRONOUN = re.compile(r"^[他她它](?!们)")
FULL_FORMS = {"'s": " is", "'re": " are", "'ve": " have", "'ll": " will", None: ""}
PERSON = read_pattern("statements.person")


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact that a message states: its text, and the user's own sentence behind it."""

    fact: str
    sentence: messages.Sentence

    @property
    def reading(self) -> Reading:
        """The fact as it is compared."""
        return read_fact(self.fact, speaker=self.sentence.speaker)


def make_statement(sentence: messages.Sentence, *, people: Sequence[str]) -> Statement | None:
    """Return what a sentence states, None where it states nothing that is worth a fact.

    `people` were mentioned before in the message, in order: "he" may be the only one.
    """
    sentence = messages.trim(sentence)
    if not messages.states_something(sentence) or _is_too_long(sentence.text):
        return None
    resolved = _add_referent(resolve_pronoun(sentence.text, people=people), sentence)
    if not is_worth_a_fact(resolved, sentence):
        return None
    return state(sentence, resolved)


def _add_referent(text: str, sentence: messages.Sentence) -> str:
    """Return a sentence that begins with "she" behind the one before, which says who that is."""
    if not (LEADING_PRONOUN.match(text) or HAN_PRONOUN.match(text)):
        return text
    before = "".join(split_sentences(sentence.before)[-1:]).strip()
    whole = f"{before} {text}"
    tells = len(content_stems(before)) >= LEAST_STEMS_OF_A_FRAGMENT and QUOTED not in before
    is_told = tells and not messages.is_question(before, sentence.lexicon)
    return whole if is_told and not _is_too_long(whole) else text


def state(sentence: messages.Sentence, text: str) -> Statement:
    """Return a sentence as a fact, rewritten where it is plain, else quoted."""
    rewritten = rewrite(text, speaker=sentence.speaker, writing=sentence.writing)
    dated = anchor_times(rewritten or text, at=sentence.line.at)
    ended = end_sentence(" ".join(dated.split()))
    return Statement(ended if rewritten else quote(ended, speaker=sentence.speaker), sentence)


def _is_too_long(text: str) -> bool:
    return len(text) > CHARACTERS_AT_MOST or len(text.split()) > WORDS_AT_MOST


def end_sentence(text: str) -> str:
    """Return a sentence with a full stop, unless it ends in a mark or an address."""
    if text[-1] in ".!?。！？…" or "://" in text.rsplit(" ", 1)[-1]:
        return text
    return f"{text}。" if HAN.search(text) else f"{text}."


def resolve_pronoun(text: str, *, people: Sequence[str]) -> str:
    """Return "[Sam Okafor] is vegan" for "He's vegan" if only one person was spoken of."""
    match = LEADING_PRONOUN.match(text)
    if match is None or match[1].lower() == "they" or len(set(people)) != 1:
        return text
    return f"[{people[0]}]{FULL_FORMS[match[2]]}{text[match.end() :]}"


def find_people(sentence: messages.Sentence) -> list[str]:
    """Return the people spoken of in a sentence: "wife Ines", "Sam Okafor", "sister"."""
    text, lexicon = sentence.text, sentence.lexicon
    if sentence.writing is not Writing.ENGLISH:
        return [match["who"] for match in lexicon.pattern("kin_phrase").finditer(text)]
    words = {word for key in ("he", "she", "kin", "roles") for word in lexicon.words(key)}
    kin = "|".join(sorted(words, key=len, reverse=True))
    people: list[str] = []
    name = r"(?:,? (?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)?))?"
    phrase = rf"\b(?:[Mm]y|[Oo]ur)(?: \w+)? (?P<kin>{kin})\b{name}"
    rest = text
    for match in re.finditer(phrase, text):
        longer = re.search(rf"\b{match['name']} [A-Z][\w-]+", text) if match["name"] else None
        kin_name = f"{sentence.speaker}'s {match['kin']}"
        people.append(longer[0] if longer else match["name"] or kin_name)
        rest = rest.replace(match[0], " ")
    names = (match[1] or match[2] for match in PERSON.finditer(rest))
    people += [name for name in names if name.lower() not in STOP_WORDS]
    return list(dict.fromkeys(people))


def is_worth_a_fact(text: str, sentence: messages.Sentence) -> bool:
    """Whether a text tells enough in a whole sentence, or fills a slot of a person.

    It is the sentence or a part of it, perhaps with a pronoun resolved.
    """
    whole = tells_enough(text, sentence.lexicon) and not is_fragment(text, sentence.lexicon)
    return whole or claims_something(text, sentence.speaker)


def is_fragment(text: str, lexicon: Lexicon) -> bool:
    """Whether an English text has no verb, and no date or time beside two telling words."""
    if lexicon.writing is not Writing.ENGLISH or messages.has_verb(text, lexicon):
        return False
    values = find_values(text)
    dated = any(kind in values for kind in (Kind.WEEKDAY, Kind.TIME, Kind.DATE))
    return not dated or len(content_stems(text)) < LEAST_STEMS_OF_A_FRAGMENT


def tells_enough(text: str, lexicon: Lexicon) -> bool:
    """Whether a sentence is understandable by itself and worth keeping for a month."""
    if lexicon.writing is Writing.CHINESE:
        return _tells_enough_in_chinese(text, lexicon)
    if lexicon.has("vague", text):
        return False
    return lexicon.has("endangers", text) or informativeness(text, lexicon) >= LEAST_TOLD


def _tells_enough_in_chinese(text: str, lexicon: Lexicon) -> bool:
    own = lexicon.has("first_person", text)
    if not own and (lexicon.has("vague", text) or lexicon.has("second_person", text)):
        return False
    weight = sum(letter.isalnum() for letter in lexicon.pattern("light").sub("", text))
    return weight >= (LEAST_CHINESE if own else LEAST_CHINESE_OF_OTHERS)


def informativeness(text: str, lexicon: Lexicon) -> float:
    """Return how much a sentence tells, about -2..8.

    It counts content words, and favours first-person subjects, names, dates and numbers
    over talk about the listener.
    """
    stop_words = STOP_WORDS | lexicon.words("stop_words")
    content = {
        word for word in messages.iterate_words(text) if word not in stop_words and len(word) > 1
    }
    value: float = min(len(content), 8) * 0.5
    is_own = lexicon.has("first_subject", text) or (
        lexicon.writing is Writing.OTHER and lexicon.has("first_person", text)
    )
    if is_own:
        value += 1.5
    elif (
        lexicon.has("first_person", text)
        or text[0] == "["
        or (NAMED.match(text) and text.split()[0].lower() not in stop_words)
    ):
        value += 0.9
    names = [name for name in NAME.findall(text)[1:] if name.lower() not in stop_words]
    value += 0.3 * min(len(names), 2)
    value += 0.5 if re.search(r"\d", text) or lexicon.has("time", text) else 0.0
    value -= min(len(lexicon.pattern("second_person").findall(text)), 2) * 1.5
    return value
