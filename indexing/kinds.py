"""The types of notes and links, and the valences of emotions."""

from enum import StrEnum


class SourceType(StrEnum):
    """The kind of source that a note is about."""

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
    """The direction of a feeling: positive, negative and so on."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEUTRAL = "neutral"
    MIXED = "mixed"


class LinkType(StrEnum):
    """The relation that a link states, read from the first memory to the second."""

    RELATES_TO = "relates_to"
    REFERENCES = "references"
    MENTIONS = "mentions"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    FOLLOWS = "follows"
    PART_OF = "part_of"
    CAUSED_BY = "caused_by"


class ServerLinkType(StrEnum):
    """Links that follow from other tables. They are read from there and not stored."""

    DERIVED_FROM = "derived_from"
    """A link from a fact to an episode that is its evidence."""
    SUPERSEDES = "supersedes"
    """A link from a fact to the one that it replaces."""
    NEXT = "next"
    """A link from an episode to the next one in the conversation."""


LINK_TYPES = (*(kind.value for kind in LinkType), *(kind.value for kind in ServerLinkType))
LINK_WORDS = {name: name.replace("_", " ") for name in LINK_TYPES}
"""The words for each link type that people read."""
