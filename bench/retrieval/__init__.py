"""How fast the server answers and writes on a database of a stated size: docs/benchmarks.md."""
