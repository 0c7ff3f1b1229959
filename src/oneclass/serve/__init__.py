"""Services on the functions of the library: HTTP (`oneclass serve`) and MCP (`oneclass mcp`)."""
