"""Every screen opens light and wide, and dark and narrow, for who cannot see, too.

With SCREENS_DIR set, each is kept there as a picture: `make screens` does that.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import Visit
from tests.browser.screens import SCREENS
from tests.browser.story import Story

pytestmark = pytest.mark.gate
WCAG = ["wcag2a", "wcag2aa", "wcag21aa"]
LOOKS: dict[str, tuple[int, bool, list[str]]] = {
    "light": (1440, False, WCAG),
    "dark-and-narrow": (390, True, ["color-contrast"]),
}
"""Width, whether it is dark, and the rules that are asked: what a look cannot change, once."""
TALLEST_PX = 1500
SETTLE = "document.getAnimations().forEach((one) => one.cancel())"
"""A colour on its way to another would be judged as it happens to be."""


@pytest.mark.parametrize(
    "look", ["light", pytest.param("dark-and-narrow", marks=pytest.mark.bench)]
)
@pytest.mark.parametrize(
    "role",
    [
        *sorted({screen.role for screen in SCREENS} - {"boss"}),
        pytest.param("boss", marks=pytest.mark.bench),
    ],
)
def test_each_screen_is_whole_and_accessible(
    role: str, look: str, visit: Callable[..., Visit], story: Story
) -> None:
    width, dark, rules = LOOKS[look]
    tab = visit(role, width=width, dark=dark)
    faults: list[str] = []
    for screen in SCREENS:
        if screen.role == role:
            tab.open(screen.address(story))
            screen.then(tab.page)
            tab.page.evaluate(SETTLE)
            keep_picture(tab, f"{screen.name}-{look}")
            faults += [f"{screen.name}: {fault}" for fault in find_faults(tab, width, rules)]
    assert not faults, "\n".join(faults)


def find_faults(tab: Visit, width: int, rules: list[str]) -> list[str]:
    """Return what is wrong with the page that is open: too wide, or against rules of WCAG."""
    wide = tab.page.evaluate("document.documentElement.scrollWidth")
    faults = [f"{wide} px wide"] if wide > width else []
    options = {"runOnly": rules, "resultTypes": ["violations"]}
    found = Axe().run(tab.page, context="#content", options=options)
    return faults + [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in found.response["violations"]
        for node in violation["nodes"][:3]
    ]


def keep_picture(tab: Visit, name: str) -> None:
    """Save a screenshot, if somebody wants it."""
    folder = os.environ.get("SCREENS_DIR")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        size = tab.page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        tab.page.screenshot(
            path=str(Path(folder) / f"{name}.png"),
            full_page=True,
            clip={"x": 0, "y": 0, "width": size[0], "height": min(size[1], TALLEST_PX)},
        )
