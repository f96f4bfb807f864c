"""Pages and actions of API keys and tenants."""
