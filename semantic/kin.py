"""Words for people around a speaker, and whose claim a sentence is."""

from __future__ import annotations

import re

from semantic.word_lists import split_words

SHE = split_words(
    "sister mother mom mum mummy wife girlfriend daughter aunt auntie grandmother grandma granny "
    "nana niece fiancee bride stepmother sister-in-law mother-in-law daughter-in-law girl"
)
HE = split_words(
    "brother father dad daddy husband boyfriend son uncle grandfather grandpa granddad nephew "
    "fiance groom stepfather brother-in-law father-in-law son-in-law boy"
)
EITHER = split_words(
    "friend friends cousin partner boss roommate flatmate housemate neighbour neighbor colleague "
    "coworker co-worker teacher coach kid kids child children baby parents parent "
    "manager ex landlord buddy mate doctor therapist siblings sibling twin spouse folks"
)
KIN = SHE | HE | EITHER
KIN_WORD = r"(?:" + "|".join(sorted(map(re.escape, KIN), key=len, reverse=True)) + r")"
OWNED = re.compile(
    rf"^(?:the )?(?P<owner>[a-z][\w.-]*)'s (?:[a-z-]+ ){{0,2}}?(?P<kin>{KIN_WORD})\b(?:'s "
    rf"(?:[a-z-]+ )?"
    rf"(?P<more>{KIN_WORD})\b)?"
)
NAMED = re.compile(r"^(?:the )?(?P<name>[a-z\u3400-\u9fff][\w.-]*)")
PRONOUNS = {"she": SHE | EITHER, "he": HE | EITHER, "her": SHE | EITHER, "his": HE | EITHER}
CHINESE_KIN = re.compile(
    r"(?P<owner>.{0,4}?)(?:家|的)?(?P<kin>妈妈|爸爸|母亲|父亲|爸妈|父母|妻子|丈夫|老公|老婆|"
    r"女朋友|男朋友|"
    r"女友|男友|前男友|前女友|女儿|儿子|妹妹|姐姐|弟弟|哥哥|表[姐妹哥弟]|堂[姐妹哥弟]|外婆|外公|"
    r"奶奶|爷爷|"
    r"姥姥|姥爷|叔叔|阿姨|姑姑|舅舅|同事|室友|朋友|闺蜜|老板|邻居|同学|导师|妈|爸|姐|妹|弟|"
    r"哥)(?!和|跟|们)"
)
SAYS = re.compile(r"^[A-Z][\w-]* says that ")


def find_subject(text: str) -> str:
    """Return whom a third-person sentence is about: "bo", "bo's sister", "she", "" for a thing.

    A thing of a person's is that person's: "Bo's rent".
    """
    plain = text.lower()
    if owned := OWNED.match(plain):
        more = f"'s {owned['more']}" if owned["more"] else ""
        return f"{owned['owner']}'s {owned['kin']}{more}"
    named = NAMED.match(plain)
    if named is None:
        return ""
    name = named["name"]
    if name in {"user", "assistant"} or name in PRONOUNS:
        return {"her": "she", "his": "he"}.get(name, name)
    return name.split("'")[0] if text[:1].isupper() and not plain.startswith("the ") else ""


def find_chinese_subject(text: str, *, speaker: str) -> str:
    """Return whom a Chinese sentence is about; without a known speaker only kin can be told."""
    lowered = text.lower()
    at = lowered.find(speaker) if speaker else 0
    if kin := CHINESE_KIN.match(lowered[at + len(speaker) :] if at >= 0 else lowered):
        return f"{speaker or kin['owner']}的{kin['kin']}"
    return speaker


def same_person(a: str, b: str) -> bool:
    """Whether two subjects may be one person; a pronoun stands for kin of its sex."""
    if a == b or a.endswith((f"'s {b}", f"的{b}")) or b.endswith((f"'s {a}", f"的{a}")):
        return True
    for one, other in ((a, b), (b, a)):
        if one in PRONOUNS and "'s " in other:
            return other.rsplit(" ", 1)[1] in PRONOUNS[one]
    return False
