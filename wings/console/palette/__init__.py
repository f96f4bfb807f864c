"""The command palette: pages, memories and ids from anywhere, by keyboard."""
