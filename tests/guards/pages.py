"""The Markdown pages of the repository, and what an address within one may name."""

from __future__ import annotations

import re

from django.conf import settings


def list_pages() -> list[str]:
    """Return the paths of all pages but prompts, which a model reads, relative to the root."""
    root = settings.BASE_DIR
    folders = [path for path in root.iterdir() if path.is_dir() and path.name[0] not in "._"]
    pages = [*root.glob("*.md"), *(page for path in folders for page in path.rglob("*.md"))]
    names = sorted(str(page.relative_to(root)) for page in pages)
    others = re.compile(r"var/|docs/_build/|.*/(prompts|node_modules)/")
    return [name for name in names if not others.match(name)]


PAGES = list_pages()


def read_page(name: str) -> str:
    """Return the text of a page, by its path from the root."""
    return (settings.BASE_DIR / name).read_text(encoding="utf-8")


def find_anchors(text: str) -> set[str]:
    """Return what may follow a # in an address: GitHub's and MyST's names of headings."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
