"""Upgrades a database of any earlier version to this one's schema, and keeps the old one."""
