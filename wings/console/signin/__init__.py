"""Signing in: second factors, an OpenID Connect provider, and the sessions that are open."""
