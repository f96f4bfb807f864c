"""Pages and actions of notes and links."""
