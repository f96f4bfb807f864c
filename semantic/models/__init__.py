"""The tables of what is known."""

from semantic.models.decisions import CorrectionMark, Suggestion, Triage
from semantic.models.facts import Change, Changeset, Evidence, Fact

__all__ = ["Change", "Changeset", "CorrectionMark", "Evidence", "Fact", "Suggestion", "Triage"]
