"""The product's web application, except that a key once found is believed for an hour.

So that calls come past the look for their key while the database is away, and meet that
in the views themselves.
"""

from memoryproject.wsgi import application  # noqa: F401 - first: it sets Django up

from django.conf import settings  # isort: skip

settings.KEY_REMEMBERED_S = 3600.0
