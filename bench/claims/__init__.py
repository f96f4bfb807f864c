"""Measures what a claim costs while many jobs wait."""
