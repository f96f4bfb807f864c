"""Starts the MCP server: over stdio for one host, or over HTTP for many."""

from __future__ import annotations

import argparse
import os
import sys

from mcp.server.transport_security import TransportSecuritySettings
from memory_server_client.faces import LOCAL

from memory_mcp.server import make_http_server, make_stdio_server

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def main() -> None:
    """Read the command line and the environment, and serve until the end."""
    parser = argparse.ArgumentParser(
        prog="memory-mcp",
        description="Long-term memory over MCP. MEMORY_URL says where the memory server is "
        f"({LOCAL}); over stdio MEMORY_KEY is the key and MEMORY_USER whose memory it is, over "
        "HTTP each request brings its own key, and the memory is that of the user it is bound to.",
    )
    parser.add_argument("--http", action="store_true", help="serve streamable HTTP at /mcp")
    parser.add_argument("--host", default="127.0.0.1", help="with --http (%(default)s)")
    parser.add_argument("--port", type=int, default=8001, help="with --http (%(default)s)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="with --http: a name that clients call it by, such as mcp.example.com",
    )  # fmt: skip
    options = parser.parse_args()
    url = os.environ.get("MEMORY_URL") or LOCAL
    if not options.http:
        key = os.environ.get("MEMORY_KEY")
        if not key:
            sys.exit("error: set MEMORY_KEY to a key of the memory server")
        make_stdio_server(url, key, os.environ.get("MEMORY_USER", "")).run()
        return
    make_http_server(url).run(
        "streamable-http",
        host=options.host,
        port=options.port,
        stateless_http=True,
        json_response=True,
        transport_security=choose_security(options.allow_host),
    )


def choose_security(names: list[str]) -> TransportSecuritySettings:
    """Return which Host and Origin headers are let in: against DNS rebinding."""
    hosts = [name for host in (*LOOPBACK, *names) for name in (host, f"{host}:*")]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


if __name__ == "__main__":
    main()
