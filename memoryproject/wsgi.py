"""The WSGI application that a web server loads."""

import os

from django.core.wsgi import get_wsgi_application

from memoryproject import logs
from memoryproject.loading import without_collecting

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
with without_collecting():
    application = get_wsgi_application()
logs.install_hooks()
