"""Addresses of the admin's own pages, below `admin/`."""

from django.urls import path

from console import (
    case_file,
    curating,
    curating_many,
    exporting,
    graph_page,
    importing,
    keys,
    noting,
    operating,
    playground,
    revealing,
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
    path("notes/<uuid:note_id>/change/", noting.change_note, name="note_change"),
    path("notes/<uuid:note_id>/delete/", noting.delete_note, name="note_delete"),
    path("notes/<uuid:note_id>/restore/", noting.restore_note, name="note_restore"),
    path("links/draw/", noting.draw_link, name="link_draw"),
    path("links/<uuid:link_id>/remove/", noting.remove_link, name="link_remove"),
    path("graph/<uuid:memory_id>/", graph_page.show_graph, name="graph"),
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
