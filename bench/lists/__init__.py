"""How fast the admin's lists and its search open on a large database."""
