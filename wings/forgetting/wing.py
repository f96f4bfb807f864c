"""Forgetting at a user's request."""

from django.urls import path

from jobs.flows import Flow
from jobs.models import Kind
from memoryproject.wings import Wing
from wings.forgetting import api, forgetting

WING = Wing(
    routes=(path("forget", api.Forget.as_view()),),
    flows={Kind.FORGET: Flow(run=forgetting.forget_asked, asks_model=False)},
)
