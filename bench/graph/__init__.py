"""How fast links are followed in a tenant of many notes."""
