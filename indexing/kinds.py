"""The types of notes and links, and the valences of emotions."""

from enum import StrEnum


class SourceType(StrEnum):
    """What a note is a note of."""

    THREAD_SUMMARY = "thread_summary"
    PLAN_SUMMARY = "plan_summary"
    KNOWLEDGE_BASE = "knowledge_base"
    BRAND_KIT = "brand_kit"
    OFFER = "offer"
    SPAN = "span"
    REFERENCE = "reference"
    DOCUMENT = "document"
    NOTE = "note"


class Valence(StrEnum):
    """Which way a feeling points."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEUTRAL = "neutral"
    MIXED = "mixed"


class LinkType(StrEnum):
    """What a link says of the two memories: read it from the first to the second."""

    RELATES_TO = "relates_to"
    REFERENCES = "references"
    MENTIONS = "mentions"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    FOLLOWS = "follows"
    PART_OF = "part_of"
    CAUSED_BY = "caused_by"


class ServerLinkType(StrEnum):
    """Links that follow from other tables. They are read from there and stored nowhere."""

    DERIVED_FROM = "derived_from"
    """A link from a fact to an episode that counts as its evidence."""
    SUPERSEDES = "supersedes"
    """A link from a fact to the one that it replaces."""
    NEXT = "next"
    """A link from an episode to the one that follows it in the conversation."""


LINK_TYPES = (*(kind.value for kind in LinkType), *(kind.value for kind in ServerLinkType))
LINK_WORDS = {name: name.replace("_", " ") for name in LINK_TYPES}
"""How people read them."""
