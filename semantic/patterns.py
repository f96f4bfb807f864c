"""Reads the patterns and word lists of rules that apply to sentences in any language."""

import re
from collections.abc import Mapping
from typing import Any

from memoryproject.process import tables

_TABLES: Mapping[str, Mapping[str, Any]] = tables.read_table(__file__)


def read_table(name: str) -> Mapping[str, Any]:
    """Return a table of `patterns.toml`."""
    return _TABLES[name]


def read_text(name: str) -> str:
    """Return the value of "table.key"; a list becomes alternatives of one pattern."""
    table, _, key = name.partition(".")
    value = read_table(table)[key]
    return value if isinstance(value, str) else "|".join(value)


def read_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of "table.key", compiled."""
    return re.compile(read_text(name))


def translate_pattern(name: str) -> re.Pattern[str]:
    """Return a Python pattern in PostgreSQL's syntax, ignoring case."""
    return re.compile(re.sub(r"\\[mM]\b", r"\\b", read_text(name)), re.IGNORECASE)
