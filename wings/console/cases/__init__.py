"""The case file: explains an answer."""
