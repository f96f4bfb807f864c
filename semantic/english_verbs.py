"""English verb forms, as far as a change from first to third person needs them."""

from __future__ import annotations

from semantic.word_lists import split_words

ADVERBS = split_words(
    "also just always never still often sometimes even only already ever soon now then too kinda "
    "sorta no longer not almost rarely seldom once both first again truly so"
)
AUXILIARIES = {
    "am": "is",
    "have": "has",
    "was": "was",
    "were": "was",
    "do": "does",
    "are": "is",
    "haven't": "hasn't",
    "don't": "doesn't",
    "aren't": "isn't",
    "weren't": "wasn't",
    "ain't": "isn't",
    "gotta": "has to",
    "wanna": "wants to",
    "gonna": "is going to",
}
IRREGULAR_PASTS = split_words(
    "was were had did went got took made saw met bought found won came said told knew thought felt "
    "became began kept left lost put read ran sat spoke spent stood taught wore wrote gave grew "
    "heard "
    "held led paid sent set slept sold built broke brought caught chose cut drank drew drove "
    "ate fell "
    "fought flew forgot forgave froze hid hit hurt laid let lent lay lit meant rode rang rose sang "
    "shook shot showed shut swam swore threw understood woke quit bet cost fed bred bled dealt dug "
    "crept sought stuck struck swept stole tore hung proved snuck learnt dreamt burnt used "
    "reread redid undertook overcame withdrew bit blew outgrew gave split overcame"
)
COMMON_BASES = split_words(
    "love like enjoy want need hope feel think go have do make try work know live play help "
    "believe "
    "prefer hate find keep take get see look use spend volunteer teach study learn paint write "
    "read "
    "run swim hike cook bake dance sing create care value plan dream wish miss appreciate"
)
NEGATIVES = split_words(
    "can't couldn't won't wouldn't shouldn't didn't hadn't wasn't mustn't cannot mightn't"
)
ES_ENDINGS = ("s", "x", "z", "ch", "sh", "o")


def conjugate(base: str) -> str:
    """Return the third person singular: "study" -> "studies", "play" -> "plays"."""
    if base in {"be", "have", "do"}:
        return {"be": "is", "have": "has", "do": "does"}[base]
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(ES_ENDINGS) else f"{base}s"


def negate_contraction(word: str) -> str | None:
    """Return the third-person form of a negated auxiliary, None where `word` is none."""
    return word if word in NEGATIVES else None
