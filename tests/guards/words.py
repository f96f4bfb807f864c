"""Words that no page, template or description of a call may use, and the term for each.

The terms are those of the glossary (docs/concepts/index.md). Search from the command line:

    python -m tests.guards.words README.md docs/*.md
    python -m tests.guards.words $(find templates -name '*.html')
    python manage.py spectacular --file schema.yml && python -m tests.guards.words schema.yml
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

REPLACED = {
    "active, retired, restore": r"held|holds? again|stop(s|ped)? holding",
    "evidence, sources": r"what says it|witness(es)?",
    "served in": r"who was told",
    "keyword, semantic, rank": r"by (its |their )?(words?|meaning)|words and meaning|legs?",
    "create, link, graph": (
        r"draw(n|s|ing)? (a |the |typed |new )*links?|links?,? drawn|derived and drawn"
    ),
    "similar facts": r"lies? near",
    "corrected, replaced": (
        r"puts? (it |them )?right|(takes?|took) (the|its|their) place|in whose place"
    ),
    "roll back a source": r"undo(es|ing)? a source|let it count again|counts? again",
    "lift the quarantine": r"lift(s|ed|ing)?(?! (of )?the quarantine)",
    "preview, validate, cancel": r"what \w+ would come to|look through it|leave it",
    "pending review": r"what waits|waits? for (a curator|approval)|facts? waiting|waiting facts?",
    "unmask, quarantined": r"reveal(s|ed|ing)?|withh[eo]ld(s|ing)?",
    "p95 latency": r"answered within",
    "fallback runs, age, stuck": r"without the model|stands? still|standing still",
    "paused by budget": r"wait(s|ing)? for money",
    "not yet processed": r"in the window",
    "memory kind, chunk, its name": r"shelf|shelves|pieces?|things?",
    "options, output sanitising": r"asked for more|printed is harmless",
}
READ_ATTRIBUTES = "title|alt|placeholder|aria-label"


def find_replaced_words(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, word and term for each replaced word outside code."""
    prose = re.sub(r"```.*?```", keep_lines, text, flags=re.S)
    for number, line in enumerate(prose.splitlines(), start=1):
        for term, words in REPLACED.items():
            for hit in re.finditer(rf"\b({words})\b", re.sub(r"`[^`]*`", "``", line), re.I):
                yield number, hit[0], term


def keep_lines(match: re.Match[str]) -> str:
    """Return as many line breaks as the match has."""
    return "\n" * match[0].count("\n")


def read_prose(path: Path) -> str:
    """Return what people read of a page, of a template, or of the API's description."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".yml":
        return "\n".join(list_descriptions(yaml.safe_load(text)))
    if path.suffix == ".html":
        text = re.sub(r"{#.*?#}|{{.*?}}|<(script|style).*?</\1>", keep_lines, text, flags=re.S)
        text = re.sub(r"{%.*?%}", keep_lines, text, flags=re.S)
        text = re.sub(rf"(?<![\w-])(?!{READ_ATTRIBUTES})[\w-]+=\"[^\"]*\"", keep_lines, text)
    return text


def list_descriptions(node: Any) -> Iterator[str]:
    """Yield each description and summary of an OpenAPI document, a line each."""
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    for name in ("summary", "description"):
        if isinstance(node, dict) and isinstance(node.get(name), str):
            yield " ".join(node[name].split())
    for child in children:
        yield from list_descriptions(child)


def main(paths: list[str]) -> int:
    """Print each replaced word in the files; return 1 if there is any."""
    lines = [
        f"{path}:{number}: {word} → {term}"
        for path in paths
        for number, word, term in find_replaced_words(read_prose(Path(path)))
    ]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
