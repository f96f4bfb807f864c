"""The admin's own pages."""

from django.templatetags.static import static
from django.urls import include, path
from django.views.generic import RedirectView

from memoryproject.wings import Wing
from wings.console import page_reads, urls
from wings.console.erasing.rows import ERASER

WING = Wing(
    pages=urls.urlpatterns,
    addresses=(
        path("", RedirectView.as_view(url="/admin/")),
        path("favicon.ico", RedirectView.as_view(url=static("console/favicon.svg"))),
        path("admin/", include("wings.console.signin.urls")),
    ),
    chores=(page_reads.delete_old,),
    erase=ERASER,
)
