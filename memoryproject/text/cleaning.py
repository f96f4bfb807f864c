"""Makes stored text safe to print into a prompt, with pure functions.

Stored text is never changed: this happens when a text is put into an answer for a language model.
All readable text is kept. A space is inserted where markdown or HTML would begin, `http` becomes
`hxxp`, and invisible characters are removed. Doing it twice changes nothing. Callers that ask for
plain links get links and markup unchanged.
"""

import re
from functools import lru_cache

from memoryproject.process.tables import read_table

ELLIPSIS = "…"
DEFANGED, PLAIN = LINK_STYLES = ("defanged", "plain")
"""Styles of links and markup in texts: made inactive, or unchanged."""
REMEMBERED_TEXTS = 4_096
"""Number of cached texts: an answer prints a text several times, and the next answer many again."""
REMEMBERED_CHARACTERS = 1_000
_CHARACTERS = read_table(__file__, "characters")
JOINERS, UNSEEN, JOINING, VIRAMA, EMOJI, MONGOLIAN = _CHARACTERS.values()

_ANY_UNSEEN = re.compile(f"[{UNSEEN}{JOINERS}\ufe0e\ufe0f\u180b-\u180d\u180f]")
_ALWAYS = re.compile(f"[{UNSEEN}]")
_SELECTOR = re.compile(
    f"(?<![{EMOJI}])(?<![0-9#*](?=\ufe0f\u20e3))[\ufe0e\ufe0f]|(?<![{MONGOLIAN}])[\u180b-\u180d\u180f]"
)
_JOINER = re.compile(
    f"(?<![{VIRAMA}])(?<![{JOINING}](?=.[{JOINING}]))(?<![{EMOJI}\ufe0f](?=\u200d[{EMOJI}]))"
    f"[{JOINERS}]",
    re.DOTALL,
)
# The flags of England, Scotland and Wales: the only ones that are spelt in tags.
_TAGGED_FLAG = re.compile(
    "(\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067"
    "|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f)"
)
# Codes for terminals: strings up to their end, then colours and moves, then what is left.
# The end is optional: a text full of openings without an end is read once, not once for each.
_STRING = re.compile(
    r"(?:\x1b[]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n]*+(?P<end>\x07|\x1b\\|\x9c)?"
)
_MOVE = re.compile(r"(?:\x1b\[|\x9b)[0-?]{0,100}[ -/]{0,20}[@-~]|\x1b[ -/]{1,20}[0-~]")
_BREAK = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

_SUSPECT = re.compile("[<\\[\\]\x00-\x08\x0b-\x1f\x7f-\U0010ffff]")
_LINKS = [
    (re.compile(r"\]\("), "] ("),
    (re.compile(r"!\["), "! ["),
    (re.compile(r"<(?=[A-Za-z/!?])"), "< "),
]
_ADDRESSES = [
    (re.compile(r"(h)tt(ps?:/)(?=/)", re.IGNORECASE), r"\1xx\2"),
    (re.compile(r"ftp(?=://)", re.IGNORECASE), "fxp"),
    (re.compile(r"(?<![\w:/])//(?=[\w-]{1,63}\.)"), "/ /"),
]
_WWW = re.compile(r"(?<![^\W_])(?<!\.)(?<!\[\.\])(www)\.(?=\w)", re.IGNORECASE)
_DATA = re.compile(r"\b(data):(?=[\w.+-]{1,40}/[\w.+-]{1,80}[;,])", re.IGNORECASE)
_PACKED = re.compile(r"(;base64,)[\w+/=-]{64,}", re.IGNORECASE)
_SCRIPT = re.compile(r"((?:java|vb)script):(?=\S)", re.IGNORECASE)

# What begins the lines of our own forms, and what opens a block of markdown.
_DEFINITION = re.compile(
    r"^([ \t>*+.)\d-]*+)(?=\[(?:[^\[\]\\]|\\.){1,999}\]:)", re.MULTILINE | re.DOTALL
)
_OURS = re.compile(
    r"[ \t]*(?=#{2,6}(?:[ \t]|$)|[-*+][ \t]+\[[a-z_]{4,40}(?:, \d{4}-\d\d-\d\d)?\]"
    r"|\[[a-z_]{4,40}: |\d{1,9}[.)][ \t]+\[[0-9a-f-]{36}\])"
)
_HEADING = re.compile(r" {0,3}(?=#(?:[ \t]|$))")
_FENCE = re.compile(r" {0,3}(?=(`{3,}(?=[^`]*$)|~{3,})(.*))")


def clean(text: str, links: str = DEFANGED) -> str:
    """Return a text without invisible characters and active links or markup.

    Words stay: `[the plan](https://host/x)` becomes `[the plan] (hxxps://host/x)`. With plain links
    only invisible characters are removed.
    """
    if links == PLAIN:
        return drop_unseen(text)
    return _remember(text) if len(text) <= REMEMBERED_CHARACTERS else _defang(text)


def _defang(text: str) -> str:
    if _SUSPECT.search(text):
        if not text.isascii() or not text.isprintable():
            text = _drop_unseen(text)
        for pattern, instead in _LINKS:
            text = pattern.sub(instead, text)
    if "//" in text:
        for pattern, instead in _ADDRESSES:
            text = pattern.sub(instead, text)
    if ":" in text:
        text = _break_schemes(text)
    if "www." in text.lower():
        text = _WWW.sub(r"\1[.]", text)
    return text


_remember = lru_cache(REMEMBERED_TEXTS)(_defang)


def clean_line(text: str, links: str = DEFANGED) -> str:
    """Return a text on one line, cleaned, so that it cannot imitate a line of ours."""
    return clean(" ".join(text.splitlines()), links)


def clean_alone(text: str, links: str = DEFANGED) -> str:
    """Return a text on one line, cleaned, that may be at the beginning of a line."""
    return break_definitions(clean_line(text, links), links)


def clean_block(text: str, links: str = DEFANGED) -> str:
    """Return a text with its lines, cleaned, with a backslash before those that imitate ours.

    These are headings, headers of memories and bullets of facts; and a fence that is never closed,
    which would include the text after it. Code in a closed fence keeps its comments.
    """
    return _escape(break_definitions(clean(text, links), links))


def break_definitions(text: str, links: str = DEFANGED) -> str:
    """Return a text in which no line defines a link reference: `\\[1]: /x`."""
    if "]:" not in text or links == PLAIN:
        return text
    return _DEFINITION.sub(r"\1\\", text)


def find_definition(line: str, links: str = DEFANGED) -> int | None:
    """Return where `break_definitions` puts a backslash into one line, or None."""
    if "]:" not in line or links == PLAIN:
        return None
    match = _DEFINITION.match(line)
    return match.end() if match else None


def cap(text: str, at_most: int) -> str:
    """Return at most so many characters of a text, marked with "…" if there were more."""
    return text if len(text) <= at_most else text[: at_most - 1].rstrip() + ELLIPSIS


def drop_unseen(text: str) -> str:
    """Return a text without invisible characters; all readable text is unchanged."""
    if text.isascii() and text.isprintable():
        return text
    return _drop_unseen(text)


def _drop_unseen(text: str) -> str:
    text = _BREAK.sub("\n", text)
    if not _ANY_UNSEEN.search(text):
        return text
    parts = _TAGGED_FLAG.split(text)
    parts[::2] = [_drop_unseen_beside_flags(part) for part in parts[::2]]
    return "".join(parts)


def _drop_unseen_beside_flags(text: str) -> str:
    text = _STRING.sub(lambda string: "" if string["end"] else string[0], text)
    text = _ALWAYS.sub("", _MOVE.sub("", text))
    return _JOINER.sub("", _SELECTOR.sub("", text))


def _break_schemes(text: str) -> str:
    text = _PACKED.sub(rf"\1{ELLIPSIS}", text)
    return _SCRIPT.sub(r"\1 :", _DATA.sub(r"\1 :", text))


def _escape(text: str) -> str:
    """Return the text with a backslash before each line that looks like one of ours."""
    lines = text.split("\n")
    closes = _find_fences(lines)
    until = -1
    for place, line in enumerate(lines):
        if place <= until:
            forged = _OURS.match(line) if place < until else None
        elif place in closes:
            until = closes[place]
            continue
        else:
            forged = _OURS.match(line) or _HEADING.match(line) or _FENCE.match(line)
        if forged:
            lines[place] = f"{line[: forged.end()]}\\{line[forged.end() :]}"
    return "\n".join(lines)


def find_forged(line: str) -> int | None:
    """Return where a line that looks like one of ours gets a backslash, or None."""
    match = _OURS.match(line)
    return match.end() if match else None


def _find_fences(lines: list[str]) -> dict[int, int]:
    """Return start and end of each closed block of code; none after an open one."""
    ends: dict[int, int] = {}
    opened, mark = -1, ""
    for place, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        if opened < 0:
            opened, mark = place, fence[1]
        elif fence[1].startswith(mark) and not fence[2].strip():
            ends[opened] = place
            opened = -1
    return ends
