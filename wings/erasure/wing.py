"""Deleting for good."""

from django.urls import path

from jobs.flows import Flow
from jobs.models import Kind
from memoryproject.wings import Wing
from wings.erasure import api, flow, services

WING = Wing(
    routes=(
        path("erasures", api.Erasures.as_view()),
        path("erasures/<id:erasure_id>", api.OneErasure.as_view()),
    ),
    events=(flow.ERASURE_DONE,),
    flows={Kind.ERASE: Flow(run=flow.run_erasure, asks_model=False)},
    chores=(services.apply_policies,),
)
