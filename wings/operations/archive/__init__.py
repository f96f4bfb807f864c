"""Backups: a file with the database and its secrets, written and read in bounded memory."""
