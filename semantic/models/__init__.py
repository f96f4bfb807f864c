"""The tables of what is known."""

from semantic.models.decisions import CorrectionMark, Suggestion, Triage
from semantic.models.facts import DANGERS, Change, Changeset, Evidence, Fact

__all__ = [
    "DANGERS",
    "Change",
    "Changeset",
    "CorrectionMark",
    "Evidence",
    "Fact",
    "Suggestion",
    "Triage",
]
