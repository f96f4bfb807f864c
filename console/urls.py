"""Addresses of the admin's own pages, below `admin/`."""

from django.urls import path

from console import playground, revealing

app_name = "console"
urlpatterns = [
    path("playground/", playground.show_playground, name="playground"),
    path(
        "reveal/<uuid:conversation_id>/",
        revealing.reveal_conversation,
        name="reveal",
    ),
]
