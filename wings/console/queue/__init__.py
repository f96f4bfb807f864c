"""The review queue: items for curators, most important first."""
