"""Addresses of the console's pages, below `admin/`."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponseBase
from django.urls import path

from wings.console.cases import page as cases
from wings.console.conversations import page as conversations
from wings.console.conversations import rollback
from wings.console.erasing import page as erasing
from wings.console.erasing import retention
from wings.console.facts import actions as facts
from wings.console.facts import changes, marks
from wings.console.home import page as home
from wings.console.instructions import page as instructions
from wings.console.jobs import page as jobs
from wings.console.keys import page as keys
from wings.console.notes import links
from wings.console.notes import page as notes
from wings.console.notifications import page as notifications
from wings.console.palette import page as palette
from wings.console.people import page as people
from wings.console.playground import page as playground
from wings.console.queue import page as queue
from wings.console.try_it import page as try_it
from wings.console.webhooks import page as webhooks
from wings.erasure.models import Scope


def _acts(address: str, view: Callable[..., HttpResponseBase], of: str, *acts: str) -> list[Any]:
    return [path(f"{address}{act}/", view, {"name": act}, f"{of}_{act}") for act in acts]


ERASED = {
    Scope.MESSAGE: "messages/<uuid:message_id>/erase/",
    Scope.CONVERSATION: "conversations/<uuid:conversation_id>/erase/",
    Scope.NOTE: "notes/<uuid:note_id>/erase/",
    Scope.USER: "notes/<uuid:note_id>/erase-user/",
    Scope.PERSON: "people/<uuid:person_id>/erase/",
    Scope.IMPORT: "changesets/<uuid:import_id>/erase/",
    Scope.TENANT: "tenants/<uuid:tenant_id>/erase/",
}
urlpatterns = [
    *_acts("jobs/<uuid:job_id>/", jobs.retry_or_cancel, "job", "retry", "cancel"),
    path("keys/new/", keys.make_key, name="key_new"),
    path("keys/<uuid:key_id>/revoke/", keys.revoke_key, name="key_revoke"),
    path("keys/<uuid:key_id>/rotate/", keys.rotate_key, name="key_rotate"),
    path("keys/<uuid:key_id>/rate/", keys.set_key_rate, name="key_rate"),
    path("webhooks/new/", webhooks.make_webhook, name="webhook_new"),
    *_acts("webhooks/<uuid:webhook_id>/", webhooks.change_webhook, "webhook", "test", "delete"),
    path("tenants/<uuid:tenant_id>/budget/", keys.set_budget, name="budget"),
    path("tenants/<uuid:tenant_id>/limits/", keys.set_limits, name="limits"),
    *_acts("facts/<uuid:fact_id>/", facts.change_fact, "fact", "invalidate", "restore", "correct"),
    path("facts/<uuid:fact_id>/marks/", marks.decide_marks, name="fact_marks"),
    path("facts/<uuid:fact_id>/ask-again/", marks.show_answers, name="ask_again"),
    *_acts("facts/", facts.change_facts, "facts", "invalidate", "restore"),
    path("changesets/<uuid:changeset_id>/revert/", facts.revert_changeset, name="changeset_revert"),
    path("notes/<uuid:note_id>/change/", notes.change_note, name="note_change"),
    *_acts("notes/<uuid:note_id>/", notes.delete_or_restore, "note", "delete", "restore"),
    path("people/known/", people.show_known, name="person_known"),
    path("people/new/", people.add_person, name="person_new"),
    path("people/<uuid:person_id>/export/", people.export_person, name="person_export"),
    *_acts("people/<uuid:person_id>/", people.merge_people, "person", "merge", "unmerge"),
    path("instructions/new/", instructions.save_instructions, name="instructions_new"),
    path(
        "instructions/<uuid:version_id>/undo/",
        instructions.undo_instructions,
        name="instructions_undo",
    ),
    path("links/draw/", links.create_link, name="link_draw"),
    path("links/<uuid:link_id>/remove/", links.delete_link, name="link_remove"),
    path("compare/", changes.show_comparison, name="compare"),
    path("review-queue/", queue.show_queue, name="review_queue"),
    path("review-queue/decide/", queue.decide, name="review_decide"),
    path("review-queue/allow/", queue.allow, name="review_allow"),
    path("roll-back/", rollback.show_rollback, name="roll_back"),
    path("roll-back/<uuid:withholding_id>/lift/", rollback.lift, name="lift"),
    path("search/", palette.search_or_palette, name="search"),
    path("notifications/", notifications.show_notifications, name="notifications"),
    path("notifications/mail/", notifications.choose_mail, name="notification_choice"),
    path("case-file/", cases.show_entry, name="case_file"),
    path("case-file/<uuid:retrieval_id>/", cases.show_case, name="case"),
    path("case-file/<uuid:retrieval_id>/test/", cases.create_test, name="case_test"),
    path("tests/new/", cases.make_test, name="test_new"),
    *_acts("tests/<uuid:test_id>/", cases.change_test, "test", "run", "delete"),
    path("tour/", home.show_tour, name="tour"),
    path("try-it/", try_it.show_try_it, name="try_it"),
    path("try-it/flush/", try_it.make_memories, name="try_it_flush"),
    path("try-it/erase/", try_it.erase_all, name="try_it_erase"),
    path("playground/", playground.show_playground, name="playground"),
    path("reveal/<uuid:conversation_id>/", conversations.reveal_conversation, name="reveal"),
    path("erasures/<uuid:erasure_id>/certificate/", erasing.show_certificate, name="certificate"),
    path("retention/new/", retention.make_policy, name="policy_new"),
    path("retention/<uuid:policy_id>/delete/", retention.delete_policy, name="policy_delete"),
    path("holds/new/", retention.make_hold, name="hold_new"),
    path("holds/<uuid:hold_id>/lift/", retention.lift_hold, name="hold_lift"),
    *(
        path(address, erasing.erase, {"scope": scope}, f"erase_{scope.value}")
        for scope, address in ERASED.items()
    ),
]
