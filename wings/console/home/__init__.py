"""The admin's front page."""
