"""The WSGI application that a web server loads."""

import os
import sys

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from memoryproject.edge.web_pool import Pool
from memoryproject.process import logs
from memoryproject.process.loading import (
    load_shared_models,
    return_large_blocks,
    without_collecting,
)
from memoryproject.text import tokens

SWITCH_INTERVAL_S = 0.001

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
return_large_blocks()
# Otherwise a computing call delays others 5 ms each time they return from a query.
sys.setswitchinterval(SWITCH_INTERVAL_S)
with without_collecting():
    application = Pool(get_wsgi_application(), threads=settings.WEB_THREADS)
    # Otherwise the first call would load all views and the tokenizers.
    get_resolver().url_patterns  # noqa: B018
    tokens.count_tokens("ready")
load_shared_models()
logs.install_hooks()

from memoryproject.tenancy import key_usage  # noqa: E402 - its tables need Django, set up above

key_usage.keep_writing()
