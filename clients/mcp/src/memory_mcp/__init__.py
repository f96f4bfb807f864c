"""MCP server of the memory server: a thin client of its REST API."""
