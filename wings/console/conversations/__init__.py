"""Pages of conversations, episodes and quarantined sources."""
