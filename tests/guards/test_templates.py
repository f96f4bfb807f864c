"""Templates: what scrolls can be scrolled by keyboard, however wide its contents happen to be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

STYLES = settings.BASE_DIR / "wings" / "console" / "static"
TEMPLATES = settings.BASE_DIR / "templates"
SCROLLING_RULE = re.compile(r"([^{}]+)\{[^{}]*\boverflow(?:-[xy])?:\s*(?:auto|scroll)")
OPENING_TAG = re.compile(r"<(\w+)((?:\{[{%].*?[}%]\}|[^<>])*)>", re.DOTALL)


def test_every_region_that_scrolls_takes_the_focus() -> None:
    selectors = {
        rule.split()[-1]
        for sheet in STYLES.rglob("*.css")
        for rule in SCROLLING_RULE.findall(sheet.read_text())
    }
    assert {".console-scroll", "pre"} <= selectors
    regions = [
        (path.name, tag, attributes)
        for path in TEMPLATES.rglob("*.html")
        for tag, attributes in find_tags(path, selectors)
    ]
    assert len(regions) > len(selectors)
    assert [region for region in regions if 'tabindex="0"' not in region[2]] == []


def find_tags(path: Path, selectors: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the opening tags of a template that one of the selectors means, with attributes."""
    for tag, attributes in OPENING_TAG.findall(path.read_text()):
        named = re.search(r'class="([^"]*)"', attributes)
        names = {f".{name}" for name in named.group(1).split()} if named else set()
        if selectors & (names | {tag}):
            yield tag, attributes
