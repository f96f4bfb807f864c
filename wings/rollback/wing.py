"""Taking back all that some messages taught."""

from django.urls import path

from jobs.flows import Flow
from jobs.models import Kind
from memoryproject.adminkit.site import Entry
from memoryproject.wings import Wing
from wings.rollback import api, rollback

MENU = {
    "Conversations": (
        Entry("Quarantined sources", "block", "episodic.withholding", "Sources that were rolled "
            "back: their messages are kept, and neither served nor learnt from."),
    ),
}  # fmt: skip

WING = Wing(
    routes=(
        path("rollbacks", api.Rollbacks.as_view()),
        path("rollbacks/<id:rollback_id>", api.OneRollback.as_view()),
        path("rollbacks/<id:rollback_id>/lift", api.LiftRollback.as_view()),
    ),
    flows={Kind.ROLLBACK: Flow(run=rollback.run_rollback, asks_model=False)},
    menu=MENU,
)
