"""An embedded PostgreSQL: found, created, started and stopped; see README.md."""

from memoryproject.embedded.errors import EmbeddedPostgresError
from memoryproject.embedded.paths import (
    APP_ROLE,
    DATABASE,
    OWNER_ROLE,
    SUPERUSER,
    ServerAddress,
    locate,
    make_data_dir,
)
from memoryproject.embedded.server import ensure_started, find_running, stop

__all__ = [
    "APP_ROLE",
    "DATABASE",
    "OWNER_ROLE",
    "SUPERUSER",
    "EmbeddedPostgresError",
    "ServerAddress",
    "ensure_started",
    "find_running",
    "locate",
    "make_data_dir",
    "stop",
]
