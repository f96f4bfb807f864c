"""The case file: why an answer said what it said."""
