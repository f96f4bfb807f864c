"""How long an answer takes, by size of the conversation: docs/benchmarks.md."""
