"""The review queue: what curators have to look at, what matters most first."""
