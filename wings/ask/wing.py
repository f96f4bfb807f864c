"""Answers to questions by the tenant's language model, each sentence with checked citations."""

from django.urls import path

from memoryproject.wings import Wing
from wings.ask import api

WING = Wing(routes=(path("ask", api.Ask.as_view()),))
