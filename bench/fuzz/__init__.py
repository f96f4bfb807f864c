"""Random and hostile requests against the whole API, made from its own description."""
