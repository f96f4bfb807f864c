"""The only room that calls language and embedding models."""
