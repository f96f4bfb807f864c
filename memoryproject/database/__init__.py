"""Ids, the database's clock, and statements with long lists of ids."""
