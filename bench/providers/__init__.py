"""Providers for benchmarks of others: files to copy into their harness."""
