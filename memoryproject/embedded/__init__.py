"""An embedded PostgreSQL: found, created, started and stopped; see README.md."""

from memoryproject.embedded.accounts import EmbeddedPostgresError as EmbeddedPostgresError
from memoryproject.embedded.paths import APP_ROLE as APP_ROLE
from memoryproject.embedded.paths import DATABASE as DATABASE
from memoryproject.embedded.paths import OWNER_ROLE as OWNER_ROLE
from memoryproject.embedded.paths import SUPERUSER as SUPERUSER
from memoryproject.embedded.paths import ServerAddress as ServerAddress
from memoryproject.embedded.paths import locate as locate
from memoryproject.embedded.paths import make_data_dir as make_data_dir
from memoryproject.embedded.server import ensure_started as ensure_started
from memoryproject.embedded.server import find_running as find_running
from memoryproject.embedded.server import stop as stop
