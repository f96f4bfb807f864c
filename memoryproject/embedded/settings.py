"""The server's configuration: what differs from PostgreSQL's own defaults, and why."""

from collections.abc import Mapping

from memoryproject.embedded.paths import PORT, ServerPaths

FILE_NAME = "memory.conf"

DEFAULTS: Mapping[str, str] = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "work_mem": "32MB",
    "maintenance_work_mem": "256MB",
    "synchronous_commit": "on",  # a message we have acknowledged survives a power cut
    "jit": "off",
    # Processes that would have nothing to do: what is read lies in memory as a rule, and
    # nobody subscribes to another server's tables.
    "io_method": "sync",
    "max_logical_replication_workers": "0",
    "random_page_cost": "1.1",
    # Index-only vector scans need a fresh visibility map.
    "autovacuum_vacuum_insert_scale_factor": "0.02",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # No row content reaches the log: neither statements and parameters, nor the DETAIL
    # line of a violated constraint, nor an ERROR such as `invalid input syntax: "..."`.
    # Here LOG ranks above ERROR; the client is told all errors and logs them itself.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_line_prefix": "%m [%p] ",
}


def render_settings(paths: ServerPaths, overrides: Mapping[str, str]) -> str:
    """Return the text of `memory.conf`.

    An operator's own choices go through ALTER SYSTEM, which PostgreSQL reads last.
    """
    socket_dir = str(paths.socket_dir).replace('"', '""')
    settings = {
        **DEFAULTS,
        # A comma-separated list: the inner quotes keep spaces and commas in the path.
        "unix_socket_directories": f'"{socket_dir}"',
        **overrides,
    }
    lines = [f"{name} = {_quote(value)}\n" for name, value in settings.items()]
    return "# Rewritten at each start. Use ALTER SYSTEM for settings of your own.\n" + "".join(
        lines
    )


def _quote(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
