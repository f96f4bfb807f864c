"""Rewrites first-person English into sentences that name the speaker."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from semantic.english_verbs import (
    ADVERBS,
    AUXILIARIES,
    COMMON_BASES,
    IRREGULAR_PASTS,
    conjugate,
    negate_contraction,
)
from semantic.word_lists import split_words

TOKEN = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*|\s+|[^\sA-Za-z]+")
# "I'd" is "had" before these, else "would".
HAD_AFTER = split_words("been better already never just had gone")
INVERTED = split_words("am was do did have had can could will would should")
NEW_THING = re.compile(
    r"^(?:the )?new (place|flat|apartment|house|home|job|office|car|phone|boss|number|address|"
    r"team|school|"
    r"role|gig|landlord|roommate|address|email)\b(?= is|'s| has)",
    re.IGNORECASE,
)
SUBJECTLESS = (
    (re.compile(r"^guess who(?:'s| is)\s+", re.IGNORECASE), "is "),
    (re.compile(r"^(?:gonna|going to)\s+", re.IGNORECASE), "is going to "),
    (re.compile(r"^(?:gotta)\s+", re.IGNORECASE), "has to "),
    (
        re.compile(
            r"^been\s+(?!a (?:while|few|long|minute)|so long|too long|ages|forever|weeks|months|"
            r"\d)",
            re.IGNORECASE,
        ),
        "has been ",
    ),
    (re.compile(r"^(?:can't wait)\b", re.IGNORECASE), "can't wait"),
    (
        re.compile(
            r"^((?:so |really |super |also |still |just |currently )*)"
            r"(thinking|looking|planning|working(?= (?:on|at|as|for|hard|towards)\b)|trying|"
            r"hoping|feeling|getting|heading|starting|"
            r"loving|enjoying|glad|happy|excited|proud|stoked|thrilled|grateful|thankful|sorry|"
            r"off|sure|ready|keen)\s+(?=\w)",
            re.IGNORECASE,
        ),
        r"is \1\2 ",
    ),
    (
        re.compile(
            r"^((?:just |also |recently |finally |even |actually )*)"
            r"(got|went|had|took|started|finished|made|saw|met|bought|found|won|moved|came|read|"
            r"signed|tried|joined|visited|did|watched|signed|lost|decided|wrote|spent|quit|began|"
            r"gave|handed|dropped|sold|cancell?ed|ditched|switched|traded|swapped|donated|"
            r"returned|tossed|"
            r"scrapped|stopped|replaced|left|broke|threw|became|ended|booked|ordered|turned|ran|"
            r"hurt)"
            r"\s+(?=\w)",
            re.IGNORECASE,
        ),
        r"\1\2 ",
    ),
    (
        re.compile(
            r"^((?:really |also |definitely )*)(love|like|enjoy|hope|wish|need|want)\s+(?=\w)",
            re.IGNORECASE,
        ),
        None,
    ),
)


@dataclass(slots=True)
class Clause:
    """What the rewriting remembers while it walks along a sentence."""

    named: bool = False
    subject: str = ""
    awaits_verb: bool = False
    third_person: bool = False
    out: list[str] = field(default_factory=list)

    def say(self, word: str) -> None:
        """Append one token, capitalised where it starts the sentence."""
        self.out.append(word)


def possessive(name: str) -> str:
    """Return "Bo's"; names in s take the full ending too."""
    return f"{name}'s"


def add_subject(sentence: str, *, speaker: str) -> str:
    """Return the sentence with the subject that chat leaves out: "Just got back" -> "Bo just …"."""
    if own := NEW_THING.match(sentence):
        return f"{possessive(speaker)} new {own[1].lower()}{sentence[own.end() :]}"
    for pattern, lead in SUBJECTLESS:
        match = pattern.match(sentence)
        if match is None:
            continue
        if lead is None:
            rest = sentence[match.end() :]
            return f"{speaker} {match.group(1).lower()}{conjugate(match.group(2).lower())} {rest}"
        return f"{speaker} {match.expand(lead).lower()}{sentence[match.end() :]}"
    return sentence


def to_third_person(sentence: str, *, speaker: str, listener: str = "", company: str = "") -> str:
    """Return `sentence` as said about `speaker`, verbs agreeing.

    "you" becomes `listener` where one is given. `company` is who "we" adds to the
    speaker ("their family"); without one it is "others".
    """
    tokens = TOKEN.findall(sentence.replace("’", "'"))
    clause = Clause(named=sentence.startswith(speaker))
    others = company or "others"
    for index, token in enumerate(tokens):
        if not token[0].isalpha():
            clause.say(token)
            if token.strip() and token.strip() in {".", ";", ":"}:
                clause.awaits_verb = clause.third_person = False
            continue
        word = token.lower()
        if _put_first_person(clause, tokens, index, word, speaker, others):
            continue
        if listener and _put_second_person(clause, tokens, index, word, listener):
            continue
        _put_verb_or_word(clause, tokens, index, token)
    return _tidy("".join(clause.out))


def _put_first_person(
    clause: Clause, tokens: list[str], index: int, word: str, speaker: str, others: str
) -> bool:
    """Write a first-person word; False where `word` is none."""
    if word == "i" or word.startswith("i'"):
        if (
            word == "i"
            and tokens[index] == "i"
            and index + 1 < len(tokens)
            and tokens[index + 1] == "."
        ):
            return False
        _put_i(clause, tokens, index, word, speaker)
    elif word == "my":
        clause.say("their" if clause.named else possessive(speaker))
        clause.named = True
    elif word in {"me", "mine", "myself"}:
        clause.say(_object_form(word, clause, speaker))
        clause.named = True
    elif word == "we" or word.startswith("we'"):
        group = f"{speaker} and {others}"
        ending = {"we're": " are", "we've": " have", "we'll": " will", "we'd": " would"}.get(
            word, ""
        )
        clause.say(("they" if clause.subject == "we" and clause.named else group) + ending)
        clause.named, clause.subject, clause.awaits_verb = True, "we", False
        clause.third_person = False
    elif word in {"us", "our", "ours", "ourselves"}:
        plain = {"us": f"{speaker} and {others}", "our": possessive(speaker)}
        said = {"us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves"}
        known = clause.named and (word != "us" or clause.subject == "we")
        clause.say(said[word] if known or word not in plain else plain[word])
        clause.named = True
    else:
        return False
    return True


def _object_form(word: str, clause: Clause, speaker: str) -> str:
    if word == "mine":
        return "theirs" if clause.named else possessive(speaker)
    if word == "myself":
        return "themselves" if clause.named else speaker
    return speaker


def _put_i(clause: Clause, tokens: list[str], index: int, word: str, speaker: str) -> None:
    """Write the subject "I", joined with its contracted verb."""
    before = _words_before(tokens, index)
    joined = bool(before) and before[-1] in {"and", "but", "then", "so"} and before[-1] != "so"
    if before and before[-1] == "and" and clause.subject == "" and _names_a_person(before[:-1]):
        clause.say(speaker)
        clause.named, clause.subject = True, "we"
        if word != "i":
            clause.say({"'m": " are", "'ve": " have", "'ll": " will", "'d": " would"}[word[1:]])
        return
    if before and before[-1] in INVERTED and word == "i" and len(before) > 1:
        _invert(clause, before[-1], speaker)
        return
    drop = joined and clause.subject == "i" and word == "i" and len(before) > 3
    text = "" if drop else speaker
    if word != "i":
        after = _word_after(tokens, index)
        ending = {"i'm": "is", "i've": "has", "i'll": "will", "i'd": "would"}.get(word, "")
        if word == "i'd" and after in HAD_AFTER:
            ending = "had"
        text = f"{text} {ending}".strip()
    clause.say(text)
    clause.named, clause.subject = True, "i"
    clause.awaits_verb, clause.third_person = word == "i", False


def _invert(clause: Clause, auxiliary: str, name: str) -> None:
    """Mend "do I" into "does Bo": the auxiliary is written already."""
    for at in range(len(clause.out) - 1, -1, -1):
        if clause.out[at].strip():
            clause.out[at] = AUXILIARIES.get(auxiliary, auxiliary)
            break
    clause.say(name)
    clause.named, clause.subject, clause.awaits_verb = True, "i", False


def _put_second_person(
    clause: Clause, tokens: list[str], index: int, word: str, listener: str
) -> bool:
    """Write a word that addresses the listener; False where `word` is none."""
    if word in {"you", "u", "ya"} or (
        word.startswith("you'") and word[3:] in {"'re", "'ve", "'ll", "'d"}
    ):
        ending = {"'re": " is", "'ve": " has", "'ll": " will", "'d": " would"}.get(word[3:], "")
        before = _words_before(tokens, index)
        if before and before[-1] in {"are", "do", "have", "were"}:
            _invert(clause, before[-1], listener)
        else:
            clause.say(listener + ending)
        clause.subject, clause.third_person = "you", False
        clause.awaits_verb = not ending and _starts_clause(before)
    elif word in {"your", "ur", "yours"}:
        clause.say(possessive(listener))
    elif word == "yourself":
        clause.say("themselves")
    else:
        return False
    return True


def _put_verb_or_word(clause: Clause, tokens: list[str], index: int, token: str) -> None:
    """Write any other word, conjugated where a subject awaits its verb."""
    word = token.lower()
    if clause.awaits_verb:
        if word in ADVERBS or (word.endswith("ly") and word not in {"rely", "apply", "reply"}):
            clause.say(token)
            return
        clause.awaits_verb = False
        if word in AUXILIARIES:
            clause.say(AUXILIARIES[word])
            return
        if negate_contraction(word) is not None:
            clause.say(negate_contraction(word) or token)
            return
        if word in IRREGULAR_PASTS or (
            word.endswith("ed") and word not in {"need", "feed", "heed"}
        ):
            clause.say(token)
            return
        if word in {"will", "can", "could", "would", "should", "might", "may", "must", "to"}:
            clause.say(token)
            return
        clause.say(conjugate(word))
        clause.third_person = True
        return
    before = _words_before(tokens, index)
    if clause.third_person and word == "to":
        clause.third_person = False
    elif clause.third_person and before and before[-1] in {"and", "but"} and word in COMMON_BASES:
        clause.say(conjugate(word))
        return
    clause.say(token)


def _words_before(tokens: list[str], index: int) -> list[str]:
    return [t.lower() for t in tokens[:index] if t[0].isalpha()]


def _word_after(tokens: list[str], index: int) -> str:
    return next((t.lower() for t in tokens[index + 1 :] if t[0].isalpha()), "")


def _starts_clause(before: list[str]) -> bool:
    return not before or before[-1] in {
        "and", "but", "if", "when", "that", "because", "as", "since", "so", "what", "how", "while",
        "think", "know", "hope", "glad", "bet", "where", "why", "believe", "sure",
    }  # fmt: skip


def _names_a_person(before: list[str]) -> bool:
    """Whether the words so far are only a companion: "my husband" and I."""
    return 0 < len(before) <= 3 and not any(
        w in AUXILIARIES or w in IRREGULAR_PASTS for w in before
    )


def _tidy(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s+([,.!?;:])", r"\1", text)
    return text[:1].upper() + text[1:]
