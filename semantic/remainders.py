"""Cuts a fact into what can stop being true by itself, and says what is left of it."""

from __future__ import annotations

import re

from semantic.claims import concepts, stems

PART_END = re.compile(r"(?<=[^A-Z][.!…])\s+(?=[A-Z])|(?<=[。！])(?=.)")
# A sentence that leans on the one before it.
LEANING = re.compile(
    r"^(?:It|She|He|They|That|This|Her|His|Its|Their|There|These|Those|Both)\b|^(?:它|他|她|这|那)",
    re.IGNORECASE,
)
LEAST_OF_ITS_OWN = 4
"""Stems of a sentence that says what it is about: "Bo goes four times a week" does not."""
LIST = re.compile(
    r"^(?P<lead>.{2,40}?\b(?:have got|has got|have|has|got|owns?|likes?|loves?|enjoys?|plays?|"
    r"speaks?|"
    r"into)) (?P<a>(?!been\b)[^.!]+?),? and "
    r"(?P<b>(?!(?:others|it|he|she|they|that|this|there)\b)[^.!]+)(?P<end>[.!]*)$"
)


def split_parts(fact: str) -> list[str]:
    """Return the sentences of a fact, each with those that lean on it."""
    parts: list[str] = []
    for sentence in PART_END.split(fact):
        leans = LEANING.match(sentence) or len(stems(sentence)) < LEAST_OF_ITS_OWN
        if parts and leans and sentence.isascii():
            parts[-1] = f"{parts[-1]} {sentence}"
        elif sentence.strip():
            parts.append(sentence)
    return parts or [fact]


CHINESE_LIST = re.compile(
    r"^(?P<lead>.{1,10}?(?:喜欢|喜爱|爱|养着?了?|有|会))(?P<a>[^，。、]+?)[和、跟](?P<b>[^，。]+)(?P<end>。?)$"
)


def drop_listed(text: str, gone: frozenset[str]) -> str:
    """Return "Bo has a dog" for "Bo has a dog and a cat" where the cat is gone, else ""."""
    listed = LIST.match(text) or CHINESE_LIST.match(text)
    if listed is None:
        return ""
    in_a, in_b = (concepts(stems(listed[side])) & concepts(gone) for side in ("a", "b"))
    if bool(in_a) == bool(in_b):
        return ""
    kept = listed["b"] if in_a else listed["a"]
    if listed.re is CHINESE_LIST:
        return f"{listed['lead']}{kept}{listed['end']}"
    return f"{listed['lead']} {kept}{listed['end'] or '.'}"
