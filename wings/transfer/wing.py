"""Imports and exports."""

from django.urls import path

from memoryproject.wings import Wing
from wings.transfer import exports, import_page

WING = Wing(
    pages=(
        path("export/", exports.show_exports, name="export"),
        path("export/file/", exports.download, name="export_download"),
        path("import/", import_page.show_imports, name="import"),
        path("import/<uuid:run_id>/", import_page.show_run, name="import_run"),
        path("import/<uuid:run_id>/decide/", import_page.decide_run, name="import_decide"),
        path("import/<uuid:run_id>/step/", import_page.take_step, name="import_step"),
    ),
    shows_content=("console:export_download", "console:import_run", "console:import_decide"),
)
