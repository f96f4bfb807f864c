"""Measures the memory of `make run` at rest and after mixed calls."""
