"""Settings of Django and of libraries that no variable changes; `settings.py` holds the others."""

from datetime import timedelta

from memoryproject.adminkit.site import UNFOLD as UNFOLD
from memoryproject.process import release

# The core's own declaration, then the wings, in the order in which they are called.
WINGS = (
    "retrieval",
    "wings.events",
    "wings.notes",
    "wings.rollback",
    "wings.marks",
    "wings.suggestions",
    "wings.navigation",
    "wings.memory_tests",
    "wings.ask",
    "wings.instructions",
    "wings.people",
    "wings.erasure",
    "wings.forgetting",
    "wings.transfer",
    "wings.operations",
    "wings.console",
)
INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "django_q",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "memoryproject.ai",
    "memoryproject.tenancy",
    "jobs",
    "indexing",
    "episodic",
    "semantic",
    *WINGS,
]
MIDDLEWARE = [
    "memoryproject.edge.access.AccessMiddleware",
    "memoryproject.edge.headers.HeadersMiddleware",
    "memoryproject.edge.http.ApiErrorMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
    "memoryproject.tenancy.middleware.CallMiddleware",  # answers API calls: the rest is for pages
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "memoryproject.tenancy.middleware.WallsMiddleware",
    "wings.console.signin.pages.RequireFactorMiddleware",
    "wings.console.page_reads.ReadLogMiddleware",
]
ROOT_URLCONF = "memoryproject.urls"
WSGI_APPLICATION = "memoryproject.wsgi.application"
APPEND_SLASH = False
STATIC_URL = "static/"
TIME_ZONE = "UTC"
WHITENOISE_USE_FINDERS = True
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "memoryproject.tenancy.membership.RoleBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_REDIRECT_URL = "admin:index"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
EMAIL_BACKEND = "wings.events.smtp.Backend"
EMAIL_TIMEOUT = 10

# ---- cookies and HTTPS
SECURE_REDIRECT_EXEMPT = ["^api/v0/health/", "^metrics$"]  # which come to the port itself
SESSION_COOKIE_AGE = 28_800  # 8 hours
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
# Other names below ours, and lists in browsers, are for the owner of the domain to bind.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# ---- logins: wrong passwords for a name, from one address, lock that name there for a while
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=10)
AXES_CLIENT_IP_CALLABLE = "memoryproject.edge.callers.client_address"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "wings.console.signin.pages.answer_locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_ENABLE_ADMIN = False  # its tables are shown read-only, like all others
AXES_VERBOSE = False

# ---- signing in: nobody can sign up
ACCOUNT_ADAPTER = "wings.console.signin.adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_RATE_LIMITS = False  # axes counts, at every door
SOCIALACCOUNT_ADAPTER = "wings.console.signin.adapters.ProviderAdapter"
MFA_ADAPTER = "wings.console.signin.adapters.FactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_TOLERANCE = 1  # a code of half a minute ago: who types slowly, or a clock that is behind
MFA_FORMS = {
    "authenticate": "wings.console.signin.pages.SecondFactorForm",
    "reauthenticate": "wings.console.signin.pages.ConfirmForm",
}
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [release.ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "wings.console.notifications.page.offer_bell",
                "memoryproject.adminkit.site.describe_frame",
            ],
        },
    },
]
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["memoryproject.tenancy.authentication.KeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["memoryproject.tenancy.authentication.HasScope"],
    "DEFAULT_PARSER_CLASSES": ["memoryproject.edge.http.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "memoryproject.edge.http.JSONWhateverIsAsked",
    "DEFAULT_SCHEMA_CLASS": "memoryproject.edge.schema.OperationSchema",
    "EXCEPTION_HANDLER": "memoryproject.edge.http.render_error",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Memory server",
    "VERSION": "0",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "memoryproject.edge.reference.add_tasks",
    ],
    "ENUM_NAME_OVERRIDES": {
        "MemoryKindEnum": "indexing.models.MemoryKind",
        "JobKindEnum": "jobs.models.Kind",
        "EventTypeEnum": "wings.events.types.list_choices",
        "ChangesetKindEnum": "semantic.models.Changeset.Kind",
        "ErasureScopeEnum": "wings.erasure.models.Scope",
        "KeyScopeEnum": "memoryproject.tenancy.models.Scope",
        "RetrievalScopeEnum": "retrieval.request.SCOPES",
        "RoleEnum": "episodic.models.Role",
        "SpeakerEnum": "episodic.chat_shapes.ROLES",
        "AbstentionEnum": "wings.ask.asking.ABSTENTIONS",
        "CitedKindEnum": "wings.ask.lines.KINDS",
        "StruckReasonEnum": "wings.ask.lines.REASONS",
        "ReasonEnum": "wings.navigation.contexts.OUTCOMES",
        "ExportKindEnum": "wings.people.api.KINDS",
        "ProfileSectionEnum": "retrieval.api.profiles.SECTIONS",
        "RetrievalKindEnum": "retrieval.models.Retrieval.Kind",
        "LinkTypeEnum": "indexing.kinds.LINK_TYPES",
        "DrawnLinkTypeEnum": "indexing.kinds.LinkType",
        "SourceTypeEnum": "retrieval.search.in_tenant.SOURCE_TYPES",
        "NoteTypeEnum": "retrieval.search.in_tenant.NOTE_TYPES",
    },
}
