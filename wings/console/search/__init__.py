"""The search over everything of a tenant, and saved filters."""
