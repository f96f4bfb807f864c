"""Pages and actions of facts, changesets and the review queue."""
