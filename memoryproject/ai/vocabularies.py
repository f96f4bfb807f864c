"""Counts tokens as OpenAI's models do, with the vocabularies of toktok: no network."""

import toktok  # noqa: TID251

ENCODINGS = ("cl100k_base", "o200k_base")
"""Encodings of GPT-4, and of GPT-4o and later models."""


def count_exactly(text: str, encoding: str) -> int:
    return int(toktok.truncate(text, 1, encoding)[1])
