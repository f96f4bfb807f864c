"""Addresses of the admin's own pages, below `admin/`."""

from django.urls import path

from console import case_file, playground, revealing, saving, searching

app_name = "console"
urlpatterns = [
    path("search/", searching.show_search, name="search"),
    path("saved/", saving.save_filter, name="save_filter"),
    path("saved/<uuid:filter_id>/", saving.forget_filter, name="forget_filter"),
    path("case-file/", case_file.show_entry, name="case_file"),
    path("case-file/<uuid:retrieval_id>/", case_file.show_case, name="case"),
    path("playground/", playground.show_playground, name="playground"),
    path(
        "reveal/<uuid:conversation_id>/",
        revealing.reveal_conversation,
        name="reveal",
    ),
]
