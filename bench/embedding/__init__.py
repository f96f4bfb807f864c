"""Measures embedding in each process against a server that all share."""
