"""What SECURITY.md promises is shown by tests that are there."""

import re

from django.conf import settings


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(
        r"`(?:[a-z/]*/)?(test_\w+\.py)`", (settings.BASE_DIR / "SECURITY.md").read_text()
    )
    there = {path.name for path in (settings.BASE_DIR / "tests").rglob("test_*.py")}
    there |= {path.name for path in (settings.BASE_DIR / "clients").glob("*/tests/test_*.py")}
    assert len(named) > 20 and set(named) <= there


def test_every_item_of_the_list_has_its_line() -> None:
    text = (settings.BASE_DIR / "SECURITY.md").read_text()
    assert re.findall(r"^\| S(\d+) ", text, re.M) == [str(number) for number in range(1, 21)]
