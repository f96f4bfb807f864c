"""Rewrites plain first-person sentences into ones that name the speaker.

Plain means: "I" or "my" comes first, nobody else is addressed or included, and the speaker
is mentioned three times at most. Everything else stays a quotation.
"""

import re
from collections.abc import Iterable

from memoryproject.text.sentences import Writing
from semantic.offline.lexicon import Lexicon, get_lexicon
from semantic.patterns import read_pattern

TOKEN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\s+|[^\w\s]|[\w@#]+")
PLAIN_START = read_pattern("third_person.plain_start")
FIRST_WORDS = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself)\b", re.IGNORECASE)
MENTIONS_AT_MOST = 3
CONTRACTED = {"i'm": "is", "i've": "has", "i'll": "will", "i'd": "would"}
# "I'd" is "had" before these, else "would".
HAD_AFTER = frozenset("been better already never just had gone".split())
INVERTED = read_pattern("third_person.inverted")
JOINTS = frozenset("and but or then".split())
ES_ENDINGS = ("s", "x", "z", "ch", "sh", "o")
HAN_PLAIN = re.compile(r"^(?:[^，我]{0,8}，?)?我(?!们|们的)")
HAN_SELF = re.compile(r"我自己")


def rewrite(sentence: str, *, speaker: str, writing: Writing) -> str | None:
    """Return a plain sentence in the third person, None where it is not plain."""
    lexicon = get_lexicon(writing)
    if lexicon.has("second_person", sentence) or lexicon.has("plural_person", sentence):
        return None
    if writing is Writing.CHINESE:
        return _rewrite_chinese(sentence, speaker)
    if writing is Writing.ENGLISH:
        return _rewrite_english(sentence.replace("’", "'"), speaker, lexicon)
    return None


def _rewrite_chinese(sentence: str, speaker: str) -> str | None:
    if HAN_PLAIN.match(sentence) is None or sentence.count("我") > MENTIONS_AT_MOST:
        return None
    text = HAN_SELF.sub("自己", sentence).replace("我", speaker)
    first = text.find(speaker) + len(speaker)
    return text[:first] + text[first:].replace(f"{speaker}的", "自己的")


def _rewrite_english(sentence: str, speaker: str, lexicon: Lexicon) -> str | None:
    if (
        PLAIN_START.match(sentence) is None
        or len(FIRST_WORDS.findall(sentence)) > MENTIONS_AT_MOST
        or INVERTED.search(sentence)
    ):
        return None
    return _Rewriting(sentence, speaker, lexicon).run()


class _Rewriting:
    """Walks along one English sentence, word by word."""

    def __init__(self, sentence: str, speaker: str, lexicon: Lexicon) -> None:
        self._tokens = TOKEN.findall(sentence)
        self._speaker = speaker
        self._lexicon = lexicon
        self._bases = lexicon.words("forms.bases")
        self._auxiliaries: dict[str, str] = lexicon.get("forms.auxiliaries")
        self._out: list[str] = []
        self._named = False
        self._is_subject = False
        self._awaits_verb = False
        self._in_present = False

    def run(self) -> str:
        """Return the sentence about the speaker."""
        for at, token in enumerate(self._tokens):
            word = token.lower()
            if word == "i" or word in CONTRACTED:
                self._put_subject(at, word)
            elif word in {"my", "mine", "me", "myself"}:
                self._put_object(word)
            elif self._awaits_verb and token[0].isalpha():
                self._put_verb(token, word)
            elif self._in_present and word in self._bases and self._before(at) in JOINTS:
                self._out.append(conjugate(word))
            elif self._named and word in self._auxiliaries and self._before(at) in JOINTS:
                self._out.append(self._auxiliaries[word])
            else:
                self._in_present = self._in_present and word != "to"
                self._out.append(token)
        text = re.sub(r" ([,.!?;:])", r"\1", re.sub(r"\s+", " ", "".join(self._out)).strip())
        return text[:1].upper() + text[1:]

    def _put_subject(self, at: int, word: str) -> None:
        joins = self._is_subject and self._before(at) in {"and", "but"}
        ending = CONTRACTED.get(word, "")
        if word == "i'd" and _first_word(self._tokens[at + 1 :]) in HAD_AFTER:
            ending = "had"
        subject = "" if joins else self._speaker
        self._out.append(f"{subject} {ending}".strip())
        self._named = self._is_subject = True
        self._awaits_verb = not ending
        self._in_present = ending == "is"

    def _put_object(self, word: str) -> None:
        words = {"my": "their", "mine": "theirs", "me": self._speaker, "myself": "themselves"}
        first = {"my": f"{self._speaker}'s", "mine": f"{self._speaker}'s"}
        self._out.append(words[word] if self._named else first.get(word, self._speaker))
        self._named = True

    def _put_verb(self, token: str, word: str) -> None:
        words = self._lexicon.words
        if word in words("forms.adverbs") or (word.endswith("ly") and word not in self._bases):
            self._out.append(token)
            return
        self._awaits_verb = False
        is_past = word in words("forms.pasts") or (word.endswith("ed") and not word.endswith("eed"))
        if word in self._auxiliaries:
            self._out.append(self._auxiliaries[word])
        elif is_past or word in words("forms.modals"):
            self._out.append(token)
        else:
            self._out.append(conjugate(word))
            self._in_present = True

    def _before(self, at: int) -> str:
        return _first_word(reversed(self._tokens[:at]))


def _first_word(tokens: Iterable[str]) -> str:
    return next((token.lower() for token in tokens if token[0].isalpha()), "")


def conjugate(base: str) -> str:
    """Return the third person singular: "study" -> "studies", "play" -> "plays"."""
    if base in {"be", "have"}:
        return {"be": "is", "have": "has"}[base]
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(ES_ENDINGS) else f"{base}s"
