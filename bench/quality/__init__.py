"""How good the answers, facts, episodes and reviews are, on labelled data."""
