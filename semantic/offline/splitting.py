"""Cuts sentences that state several things, so that one can end without the others."""

import re
from dataclasses import replace

from memoryproject.text.sentences import Writing
from semantic.offline.messages import Sentence
from semantic.offline.quotations import parse_quote, quote
from semantic.offline.readings import read_fact
from semantic.offline.statements import Statement, end_sentence, is_worth_a_fact
from semantic.patterns import read_pattern

OWN_CLAUSE = read_pattern("splitting.own_clause")
POINTING = re.compile(r"\b(?:it|them|him|her|he|she|they|that|there)\b", re.IGNORECASE)
TRAILING_JOINT = re.compile(r"(?:,| [–—-]|;)?(?: (?:and|but))?(?<! ) *$")
SUBORDINATE = read_pattern("splitting.subordinate")
ABOUT_DOING = frozenset({"does", "intends"})
# Where a sentence may fall into claims, and what begins without a subject.
PART = re.compile(r"(,? and |,? but |, )")
SUBJECT_START = re.compile(r"^(?:(?:i|my|our|we|the|he|she|their)\b|(?-i:[A-Z]))", re.IGNORECASE)
VERB_START = re.compile(r"^(?:is|has|was|had|not|\w+s|\w+ed)\b(?<!'s)", re.IGNORECASE)


def split_clauses(sentence: Sentence) -> list[Sentence]:
    """Return the clauses of an English sentence of which each is worth a fact by itself.

    "I'm on omeprazole, and I can't take aspirin" is two facts: one may end without the other.
    """
    if sentence.writing is not Writing.ENGLISH or SUBORDINATE.match(sentence.text):
        return [sentence]
    pieces: list[str] = []
    start = 0
    for joint in OWN_CLAUSE.finditer(sentence.text):
        left, right = sentence.text[start : joint.start()], sentence.text[joint.end() :]
        tells = all(is_worth_a_fact(part, sentence) for part in (left, right))
        if tells and not POINTING.search(right):
            pieces.append(sentence.text[start : joint.end()])
            start = joint.end()
    if not pieces:
        return [sentence]
    pieces.append(sentence.text[start:])
    clauses: list[Sentence] = []
    before = sentence.before
    for piece in pieces:
        clauses.append(replace(sentence, text=_tidy_clause(piece), raw=piece, before=before))
        before = f"{before} {piece}"
    return clauses


def _tidy_clause(piece: str) -> str:
    text = TRAILING_JOINT.sub("", piece)
    return text[0].upper() + text[1:]


def split_claims(statement: Statement) -> list[Statement]:
    """Return "Sam is 41." and "Sam works as a nurse." for one sentence that claims both.

    It is cut only where each part fills a slot of its own, so that one can end without the other.
    """
    quotation, speaker = parse_quote(statement.fact), statement.sentence.speaker
    first, *rest = PART.split(quotation[1] if quotation else statement.fact)
    parts = [first]
    for joint, piece in zip(rest[::2], rest[1::2], strict=True):
        whole = piece if SUBJECT_START.match(piece) else ""
        if quotation is None and VERB_START.match(piece):
            whole = f"{speaker} {piece}"
        slots = [
            _read_slots(part, speaker, is_quote=bool(quotation)) for part in (parts[-1], whole)
        ]
        if whole and all(slots) and not slots[0] & slots[1]:
            parts.append(whole)
        else:
            parts[-1] += joint + piece
    if len(parts) == 1:
        return [statement]
    ended = [end_sentence(part[0].upper() + part[1:]) for part in parts]
    facts = [quote(part, speaker=speaker) for part in ended] if quotation else ended
    return [replace(statement, fact=fact) for fact in facts]


def _read_slots(part: str, speaker: str, *, is_quote: bool) -> set[tuple[str, str]]:
    text = quote(part, speaker=speaker) if is_quote else part
    claims = read_fact(text, speaker=speaker).claims
    return {(claim.slot, claim.person) for claim in claims if claim.slot not in ABOUT_DOING}
