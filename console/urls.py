"""Addresses of the admin's own pages, below `admin/`."""

from django.urls import path

from console import (
    case_file,
    curating,
    curating_many,
    exporting,
    importing,
    inbox,
    key_changes,
    keys,
    operating,
    playground,
    revealing,
    rolling_back,
    saving,
    searching,
)

app_name = "console"
urlpatterns = [
    path("jobs/retry/", operating.retry_jobs, name="jobs_retry"),
    path("jobs/<uuid:job_id>/retry/", operating.retry_job, name="job_retry"),
    path("jobs/<uuid:job_id>/cancel/", operating.cancel_job, name="job_cancel"),
    path("keys/new/", keys.make_key, name="key_new"),
    path("keys/<uuid:key_id>/revoke/", keys.revoke_key, name="key_revoke"),
    path("keys/<uuid:key_id>/rotate/", key_changes.rotate_key, name="key_rotate"),
    path("keys/<uuid:key_id>/rate/", key_changes.set_key_rate, name="key_rate"),
    path("tenants/<uuid:tenant_id>/budget/", keys.set_budget, name="budget"),
    path("facts/<uuid:fact_id>/invalidate/", curating.invalidate_fact, name="fact_invalidate"),
    path("facts/<uuid:fact_id>/restore/", curating.restore_fact, name="fact_restore"),
    path("facts/<uuid:fact_id>/correct/", curating.correct_fact, name="fact_correct"),
    path("facts/invalidate/", curating_many.invalidate_facts, name="facts_invalidate"),
    path("facts/restore/", curating_many.restore_facts, name="facts_restore"),
    path(
        "changesets/<uuid:changeset_id>/revert/",
        curating.revert_changeset,
        name="changeset_revert",
    ),
    path("waiting/", inbox.show_inbox, name="inbox"),
    path("roll-back/", rolling_back.show_rollback, name="roll_back"),
    path("roll-back/<uuid:withholding_id>/lift/", rolling_back.lift, name="lift"),
    path("search/", searching.show_search, name="search"),
    path("saved/", saving.save_filter, name="save_filter"),
    path("saved/<uuid:filter_id>/", saving.forget_filter, name="forget_filter"),
    path("case-file/", case_file.show_entry, name="case_file"),
    path("case-file/<uuid:retrieval_id>/", case_file.show_case, name="case"),
    path("playground/", playground.show_playground, name="playground"),
    path("export/", exporting.show_exports, name="export"),
    path("export/file/", exporting.download, name="export_download"),
    path("import/", importing.show_imports, name="import"),
    path("import/<uuid:run_id>/", importing.show_run, name="import_run"),
    path("import/<uuid:run_id>/decide/", importing.decide_run, name="import_decide"),
    path("import/<uuid:run_id>/step/", importing.take_step, name="import_step"),
    path(
        "reveal/<uuid:conversation_id>/",
        revealing.reveal_conversation,
        name="reveal",
    ),
]
