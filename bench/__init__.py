"""Benchmarks: commands that measure the server; the product imports nothing from here."""
