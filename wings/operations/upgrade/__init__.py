"""Brings a database of any earlier version to this one's schema, and keeps it as it was."""
