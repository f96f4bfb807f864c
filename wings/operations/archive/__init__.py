"""Backups: one file with the database and its secrets, in limited memory."""
