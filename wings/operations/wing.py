"""Health, metrics, checks and commands."""

from django.urls import path

from memoryproject.wings import Wing
from wings.operations.health import HealthLive, HealthReady
from wings.operations.metrics import show_metrics
from wings.operations.stored_sizes import check_nightly

WING = Wing(
    routes=(
        path("health/live", HealthLive.as_view()),
        path("health/ready", HealthReady.as_view()),
    ),
    addresses=(path("metrics", show_metrics),),
    chores=(check_nightly,),
)
