"""The graph of a memory's links."""
