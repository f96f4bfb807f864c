"""Calls to language and embedding models; no other package makes any."""
