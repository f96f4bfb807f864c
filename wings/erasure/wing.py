"""Deleting for good."""

from django.urls import path

from jobs.flows import Flow
from jobs.models import Kind
from memoryproject.adminkit.site import Entry
from memoryproject.wings import Wing
from wings.erasure import api, flow, services

MENU = {
    "Settings": (
        Entry("Retention policies", "auto_delete", "erasure.retentionpolicy", "What is deleted "
            "by itself when it is old enough.",
            make=Entry("Make a retention policy", page="console:policy_new",
                permission="erasure.erase")),
        Entry("Legal holds", "gavel", "erasure.hold", "Conversations that may not be deleted "
            "until the hold is lifted.",
            make=Entry("Place a legal hold", page="console:hold_new", permission="erasure.erase")),
        Entry("Erasures", "delete_forever", "erasure.erasure", "What was deleted for good, by "
            "whom and why. Open one for its certificate."),
        Entry("Erased keys", "key_off", "episodic.erasedkey", "Hashes of what was erased, so "
            "that an agent that posts it again does not bring it back.", internal=True),
    ),
}  # fmt: skip

WING = Wing(
    routes=(
        path("erasures", api.Erasures.as_view()),
        path("erasures/<id:erasure_id>", api.OneErasure.as_view()),
    ),
    flows={Kind.ERASE: Flow(run=flow.run_erasure, asks_model=False)},
    chores=(services.apply_policies,),
    menu=MENU,
)
