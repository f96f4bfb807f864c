"""The WSGI application that a web server loads."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from memoryproject.edge.web_pool import Pool
from memoryproject.process import logs
from memoryproject.process.loading import without_collecting

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
with without_collecting():
    application = Pool(get_wsgi_application(), threads=settings.WEB_THREADS)
logs.install_hooks()
