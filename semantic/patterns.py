"""Reads the patterns and words of rules that do not depend on the language of a sentence."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def read_table(name: str) -> Mapping[str, Any]:
    """Return a table of `patterns.toml`."""
    table: Mapping[str, Any] = _TABLES[name]
    return table


def read_text(name: str) -> str:
    """Return what stands under "table.key"; of a list the alternatives of one pattern."""
    table, _, key = name.partition(".")
    value = read_table(table)[key]
    return value if isinstance(value, str) else "|".join(value)


def read_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern under "table.key", compiled."""
    return re.compile(read_text(name))
