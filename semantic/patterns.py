"""Reads the patterns and words of rules that do not depend on the language of a sentence."""

import re
from collections.abc import Mapping
from typing import Any

from memoryproject.process import tables

_TABLES: Mapping[str, Mapping[str, Any]] = tables.read_table(__file__)


def read_table(name: str) -> Mapping[str, Any]:
    """Return a table of `patterns.toml`."""
    return _TABLES[name]


def read_text(name: str) -> str:
    """Return what stands under "table.key"; of a list the alternatives of one pattern."""
    table, _, key = name.partition(".")
    value = read_table(table)[key]
    return value if isinstance(value, str) else "|".join(value)


def read_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern under "table.key", compiled."""
    return re.compile(read_text(name))


def translate_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that PostgreSQL reads, as Python writes it, without regard to case."""
    return re.compile(re.sub(r"\\[mM]\b", r"\\b", read_text(name)), re.IGNORECASE)
