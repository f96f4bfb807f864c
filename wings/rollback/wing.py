"""Taking back all that some messages taught."""

from django.urls import path

from jobs.flows import Flow
from jobs.models import Kind
from memoryproject.wings import Wing
from wings.rollback import api, rollback

WING = Wing(
    routes=(
        path("rollbacks", api.Rollbacks.as_view()),
        path("rollbacks/<id:rollback_id>", api.OneRollback.as_view()),
        path("rollbacks/<id:rollback_id>/lift", api.LiftRollback.as_view()),
    ),
    flows={Kind.ROLLBACK: Flow(run=rollback.run_rollback, asks_model=False)},
)
